/* Keys and tokens that openssl has made and signed: see tests/integration/authorization_server.py.
 */
#include "server/transport/oauth/key_set.h"

#include "base/memory.h"
#include "server/transport/oauth/jwt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Two good keys, one of them for RS256 alone under another name; and a small one, a secret, one for
 * encryption, one for signing only, one without a name, two that are none. */
static const char key_set_text[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"use\":\"sig\",\"n\":\"r8rKqB62dU5h4D"
    "9labgIT6iCc6_5tLUBZbxyHrcWdBI0l4srKZ1YlglL3LI18CRNeI7Y-FuufDg73LqcwAuu4YnIAF3ksD"
    "2ZrND1IkftzduVhDhClsYpsfbpvtKZ_jFzarryUPigqcbu-EMjJ2Xdc257asYJ4pafEiq0dbe2sywvD7"
    "m8HPyTITyrfRT-vc6UFgS-DsFY3ht60YeClZdgDeuLuHMW4BdkXTZpaMMzABOt9B_MtgOSR_SPxPCfHl"
    "eQjKiWwsoBZ-f_12a4DcFZnGDeM6xISJdOsK7klzDXe9Cdhdj2W8j0DCZ9kN96vaCKN-XN-Qbfirh3L2"
    "C96WN_-Q\",\"e\":\"AQAB\"},{\"kty\":\"EC\",\"kid\":\"e\",\"use\":\"sig\",\"crv\""
    ":\"P-256\",\"x\":\"H-_f6nM_s4qke8xgZtn_F5ll4fki-JMAu6ZDmYbxtYY\",\"y\":\"jBXEh6K"
    "dY9_9ieEOHa4V462Nlyy_ussSCTqeGpKxo5s\"},{\"kty\":\"RSA\",\"kid\":\"rs\",\"use\":"
    "\"sig\",\"n\":\"r8rKqB62dU5h4D9labgIT6iCc6_5tLUBZbxyHrcWdBI0l4srKZ1YlglL3LI18CRN"
    "eI7Y-FuufDg73LqcwAuu4YnIAF3ksD2ZrND1IkftzduVhDhClsYpsfbpvtKZ_jFzarryUPigqcbu-EMj"
    "J2Xdc257asYJ4pafEiq0dbe2sywvD7m8HPyTITyrfRT-vc6UFgS-DsFY3ht60YeClZdgDeuLuHMW4Bdk"
    "XTZpaMMzABOt9B_MtgOSR_SPxPCfHleQjKiWwsoBZ-f_12a4DcFZnGDeM6xISJdOsK7klzDXe9Cdhdj2"
    "W8j0DCZ9kN96vaCKN-XN-Qbfirh3L2C96WN_-Q\",\"e\":\"AQAB\",\"alg\":\"RS256\"},{\"kt"
    "y\":\"RSA\",\"kid\":\"s\",\"use\":\"sig\",\"n\":\"y06cH_WkNOfV16e_jqzxyC6b8KZlPO"
    "e1zpFsDk-N0DkNgiuvqt_YarF8QqUGSVW6GQtS0FEIcZwQIejajsY9-2n0lP27HK26obBy9pivbQQk3M"
    "WEiKIQzimkVIxt4cN6BEXe6-DwVLJIb5y2LjP1R79wm9atvQ4MNLQ1jJIWAj8\",\"e\":\"AQAB\"},"
    "{\"kty\":\"oct\",\"kid\":\"o\",\"k\":\"c2VjcmV0LXRoYXQtaXMtbG9uZy1lbm91Z2gtMDEyM"
    "zQ1Njc4OQ\"},{\"kty\":\"RSA\",\"kid\":\"enc\",\"use\":\"enc\",\"n\":\"r8rKqB62dU"
    "5h4D9labgIT6iCc6_5tLUBZbxyHrcWdBI0l4srKZ1YlglL3LI18CRNeI7Y-FuufDg73LqcwAuu4YnIAF"
    "3ksD2ZrND1IkftzduVhDhClsYpsfbpvtKZ_jFzarryUPigqcbu-EMjJ2Xdc257asYJ4pafEiq0dbe2sy"
    "wvD7m8HPyTITyrfRT-vc6UFgS-DsFY3ht60YeClZdgDeuLuHMW4BdkXTZpaMMzABOt9B_MtgOSR_SPxP"
    "CfHleQjKiWwsoBZ-f_12a4DcFZnGDeM6xISJdOsK7klzDXe9Cdhdj2W8j0DCZ9kN96vaCKN-XN-Qbfir"
    "h3L2C96WN_-Q\",\"e\":\"AQAB\"},{\"kty\":\"RSA\",\"kid\":\"ops\",\"use\":\"sig\","
    "\"n\":\"r8rKqB62dU5h4D9labgIT6iCc6_5tLUBZbxyHrcWdBI0l4srKZ1YlglL3LI18CRNeI7Y-Fuu"
    "fDg73LqcwAuu4YnIAF3ksD2ZrND1IkftzduVhDhClsYpsfbpvtKZ_jFzarryUPigqcbu-EMjJ2Xdc257"
    "asYJ4pafEiq0dbe2sywvD7m8HPyTITyrfRT-vc6UFgS-DsFY3ht60YeClZdgDeuLuHMW4BdkXTZpaMMz"
    "ABOt9B_MtgOSR_SPxPCfHleQjKiWwsoBZ-f_12a4DcFZnGDeM6xISJdOsK7klzDXe9Cdhdj2W8j0DCZ9"
    "kN96vaCKN-XN-Qbfirh3L2C96WN_-Q\",\"e\":\"AQAB\",\"key_ops\":[\"sign\"]},{\"kty\""
    ":\"RSA\",\"use\":\"sig\",\"n\":\"r8rKqB62dU5h4D9labgIT6iCc6_5tLUBZbxyHrcWdBI0l4s"
    "rKZ1YlglL3LI18CRNeI7Y-FuufDg73LqcwAuu4YnIAF3ksD2ZrND1IkftzduVhDhClsYpsfbpvtKZ_jF"
    "zarryUPigqcbu-EMjJ2Xdc257asYJ4pafEiq0dbe2sywvD7m8HPyTITyrfRT-vc6UFgS-DsFY3ht60Ye"
    "ClZdgDeuLuHMW4BdkXTZpaMMzABOt9B_MtgOSR_SPxPCfHleQjKiWwsoBZ-f_12a4DcFZnGDeM6xISJd"
    "OsK7klzDXe9Cdhdj2W8j0DCZ9kN96vaCKN-XN-Qbfirh3L2C96WN_-Q\",\"e\":\"AQAB\"},{\"kty"
    "\":\"RSA\",\"kid\":\"bad\",\"n\":\"!\",\"e\":\"AQAB\"},7]}";

static const struct {
    const char *name;
    const char *token;
} good[] = {
    {"RS256", "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInIifQ.eyJzdWIiOiAiYWxpY2UifQ.Ci2KozSyeUMf0_xIFW"
              "xkDsGQm9n0ZLbDgmeSkc5Usnb3D5xsT-FYGj5B35RgnedC0vVp-FEKaNnPj6PgVOPRNU6dYuo7mtdFSp"
              "aVF-_P59BIaPJEWyu0uCfWGftQHAhMq0SPoKB2xaJryGBcbzxPOnEueiUeWuqdJp-zRhNDjDEfBobvXS"
              "b-qSz7EFCX4Zz9XEsX-D4lqx8JfODMviH9DlxqRmg5jd7QJHdYljL3n9f7WNx1grHDCFn5xQ68GGinVY"
              "whgIBvlKbbUCCWu3UeGhDq1S_gTWVFvKaWyQj3niGVOmtRbXUb1vNqMX46Cr42TEFWZpiNn_sbrgUc6I"
              "q9aQ"},
    {"RS384", "eyJhbGciOiAiUlMzODQiLCAia2lkIjogInIifQ.eyJzdWIiOiAiYWxpY2UifQ.HeSSGxhtkBb4YN0-dq"
              "TPMIr-J5eX0jiSK0srhjFaHBAjrY66UtcSEs6DeqXufP1ds_J2VTXINbByiBGWbFpNuN2xazLdlokWFi"
              "BGRD6OpxuCtHX20FiAp41PE4uN3AjyBMMs7_1TFSW2b_Vn7t80aTTexWudKmu5A_6aaFZbpKXnS9zvGJ"
              "5e__zyBjWyGyAuMPqxwiPIlqjlNnqLZ87_vIEInpukPOKYlgGjIOO2Hcd5dMaKyT2DTdsqapbakDiR2f"
              "mua8YIVZc4HkZEDII_9mnQ59VvOnTZX7p_iQ7ls39WuWrznlgq-nRiM6m6TnDI-3_PykcZM-MYD9uFv0"
              "KZGA"},
    {"RS512", "eyJhbGciOiAiUlM1MTIiLCAia2lkIjogInIifQ.eyJzdWIiOiAiYWxpY2UifQ.nA9_Fv3rkOaEvcS3o0"
              "R7XwvvBpy4wrbgEaL_DgdI97J6hm0IZzGmNKbQoQOEgl9SjIiceKYRbdsfOLBaT6Ivit-_MJtxJ3njw4"
              "d_mW_5NwQNz-vBTXJBamuxiVzZ58veaPF5u5rH0VSoUTvnDN73vofFuitad3IByu5UISj9PIAbPSs1EW"
              "l8xMHweGHoJMx37A0ZNt9rngKHeRTnnAPyx9qVtVHKVgYQQRdsbtzEjw42VC4vfCNVJf6h5mCprx4-1t"
              "J7vJmmeMmFsHESyEeNz7CwKCM9vrppPKpcZOQW2zoCzai8nt-ag_uYTRRYL3jASZ6mwW0pQ8g_Xa2en8"
              "ybdw"},
    {"PS256", "eyJhbGciOiAiUFMyNTYiLCAia2lkIjogInIifQ.eyJzdWIiOiAiYWxpY2UifQ.odF9Z7rLMYWyOPaVnG"
              "RWO2Z7MhGwkltnPUZS4Qgv_swVF7X415OMOaN8eK2iyZ2hnCqIzheC8Ny1OBy86q4_2bgrRxyTc8PdCd"
              "5yI3A8GplP9mfZNNtemfXEHJFNcci5D0d8udrNlyAgTdqTo4gWS0ONiZGZkR_JSxVQdtJZU4Pi9h_tXT"
              "fsBj3Oqa6D3OcrIAYxfi2KksCCJhCkspCfXKNrBOTX0AXTC028TwFlM26rqvx8ci3SNWBbAtaFo4Qmq6"
              "vqezJ-T81wtHm-9E4Wr5ocvQCyM1_gtRiMZaq73yszf5wSNNHLflcE8JWJKdE98497CF2clbiXjRQdHy"
              "LxSQ"},
    {"ES256", "eyJhbGciOiAiRVMyNTYiLCAia2lkIjogImUifQ.eyJzdWIiOiAiYWxpY2UifQ.SKI9KnfHsWOp8S66pm"
              "2PJQzEMqWncVJjxcF3zDF797qGQ-pd0SzIYQxok24tXi4O7OAVPbq-hcev1PGwFxyl3Q"},
    {"alg of the key",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInJzIn0.eyJzdWIiOiAiYWxpY2UifQ.BmBeJsKXpiu2HfgbN"
     "5cKaG0vaBXLQcv8m-jX1aoVqdfkscqyUWHz8JlkZvsbtYY8c9traKe0V5V9zyz0MohPUz3oDmL2d0-Ti"
     "p8XrTzN05J1KlLTXmZP6Z2Oj5jBYvrq_hCOYoeyerEMiWMgNKPLvrkNVOn1hYjiVOsVSTP9BSTEN8MBS"
     "gTgSF_G9IA9RCm4ywsIs-zrzJhieRGAgaWAHSLHxE9seLPbhG6qu_l2FhxZLSfS6Rn_ZP5dEjZmUVwBc"
     "eyQqWAmhCUqLzeZ8KIc9Z0XTBdGYaFj8Nn4vP9mu4UL_eXCABYP9_bJe6dAnYZqHM05nHgT7HM6Aor5h"
     "pE60w"},
};

static const struct {
    const char *name;
    const char *reason;
    const char *token;
} bad[] = {
    {"tampered", "the signature is wrong",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInIifQ.eyJzdWIiOiAibWFsbG8ifQ.Ci2KozSyeUMf0_xIFW"
     "xkDsGQm9n0ZLbDgmeSkc5Usnb3D5xsT-FYGj5B35RgnedC0vVp-FEKaNnPj6PgVOPRNU6dYuo7mtdFSp"
     "aVF-_P59BIaPJEWyu0uCfWGftQHAhMq0SPoKB2xaJryGBcbzxPOnEueiUeWuqdJp-zRhNDjDEfBobvXS"
     "b-qSz7EFCX4Zz9XEsX-D4lqx8JfODMviH9DlxqRmg5jd7QJHdYljL3n9f7WNx1grHDCFn5xQ68GGinVY"
     "whgIBvlKbbUCCWu3UeGhDq1S_gTWVFvKaWyQj3niGVOmtRbXUb1vNqMX46Cr42TEFWZpiNn_sbrgUc6I"
     "q9aQ"},
    {"tampered ES256", "the signature is wrong",
     "eyJhbGciOiAiRVMyNTYiLCAia2lkIjogImUifQ.eyJzdWIiOiAibWFsbG8ifQ.SKI9KnfHsWOp8S66pm"
     "2PJQzEMqWncVJjxcF3zDF797qGQ-pd0SzIYQxok24tXi4O7OAVPbq-hcev1PGwFxyl3Q"},
    {"another's signature", "the signature is wrong",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInIifQ.eyJzdWIiOiAiYWxpY2UifQ.DyaapbvRH14rsHetmu"
     "p44j30Ukthzr7My5CrffcZSolrtNy9UzEnppb_ULSwsWPqgYB3pcGJiceYFdjn_VLVAqDq2VpSCEbWdo"
     "jPUt1HjyUCsN5GUNhrZKjbdAgQt3Xo4uoGEtVSUyx3-pCIL13ogkEM-qasjFPuDfyPAcKI_JgbM2lTMA"
     "hCZISWTlIgCmf7dJix5lUWJ0TD8HzWa0cgTDDfTtQuTaPCcudX11qHEDg3LAcU1uSIBh0xEi8TDf6ISo"
     "iFex5lV5AkqhuqZOAssctMc2PepXbG98nsGTvuX-nnFXfemqLOeBTXr5D4KXQNli51Wt4M7mfMIuVYRU"
     "lnIQ"},
    {"none", "the algorithm is not allowed",
     "eyJhbGciOiAibm9uZSIsICJraWQiOiAiciJ9.eyJzdWIiOiAiYWxpY2UifQ."},
    {"a public key as secret", "the algorithm is not allowed",
     "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogInIifQ.eyJzdWIiOiAiYWxpY2UifQ.0ZlhNZUxkSbRPqEw96"
     "GibTcvEmbE1g6DZry4WdUTieI"},
    {"a secret of the set", "the algorithm is not allowed",
     "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogIm8ifQ.eyJzdWIiOiAiYWxpY2UifQ.A9QTY7_5yjoWEIGsY7"
     "jx75oWUbIMys-YWn25dlgq-lc"},
    {"a key of another kind", "the key is not known for that algorithm",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogImUifQ.eyJzdWIiOiAiYWxpY2UifQ.SJWfYT8k74oGjJRF-K"
     "P2hthANgFc9zOAeWfho2QqhYiqb5JkRGqzr2uXrAN6MsdLUrKpbQo-4N1YzuK7v_XhbuiwQWaEDk3VQ7"
     "cFEaeXOAQpoZF7JLNzrW12jvO8Y3aQG_iZLTEUY6DXmdGXOmjUZ46bBTkp2nXE4gShlK7yZpo8mh_TFb"
     "JBoRtTkJpNoM0kv31-KnV5fo9eTNIMn9O_h3hY3kOk_TmQblGqygKYlrtiZB9RU8lbNVQRn26s6X2Mlh"
     "m4hbj2AVAYX9cyqdtdHyeOPGVI-78NnIGvIjlNAtSw4497ncVvEB9xDXXBvqErjvhSAzMxRaj-tm-aQs"
     "usqA"},
    {"an algorithm that the key is not for", "the key is not known for that algorithm",
     "eyJhbGciOiAiUFMyNTYiLCAia2lkIjogInJzIn0.eyJzdWIiOiAiYWxpY2UifQ.UM2COL_nVvlduBsSO"
     "z3ipcvT7Mm1ehMp4hYB1oPnUE2m4F2uKRBf81ptSs0AQzSLhWi6IIN2Xk0wHdEcI6j1t80okC7prhQjU"
     "NsqUM9S5cJkrjBhWibm9FfS6LiWvJBdg-fOmQdjutjYmjoZUCSBl4chY5xv9O_Ow0a0m4NN4iQu4RZxo"
     "wONOFotkNV439uj8To_samHh-zepeQJZYRdGvbCbfg32E27ZBs5wEcIlam26rIIdG4059EuIF6jP7DTU"
     "sDMiod7sGLk4EP-id-IJKpaKN6l3fKdOREDZTPwzUtdPYpsDxyUBJsAmrsbZeUWPnT507UEsmdc3VIxY"
     "vYY8A"},
    {"a small key", "the key is not known for that algorithm",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInMifQ.eyJzdWIiOiAiYWxpY2UifQ.Gy2ApN3OGyt6nRgfDd"
     "kOY2ZFR-x5UjtXSbw0ohaRfz8ie26ssNM0hgWfnSriulWdrYDyjLqxiS2SQE6Hn2YsCjU9U9Kcl7rSV4"
     "5t3j6fn3kL1iWjlVwpNsEaTbMvqe0bk3A6l_3hMK36QE3pnPf5CY5vedp5s0kSBiz0TSjvRY8"},
    {"a key for encryption", "the key is not known for that algorithm",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogImVuYyJ9.eyJzdWIiOiAiYWxpY2UifQ.Db9ed5YLJp6b7zUP"
     "uVHGh4mBBHDLuA9BvdvwQcQyR5O1NDxplhYX7tLJ4x9qmglAD1McCZlU7a2AoUKrYxReDdjP4T27lloI"
     "Q_0pZ0D4wuIzs-n-Skx5yoWDOtQNln5tu_6HrnuBdJvitqAJmyHFMu7G3-wAflUxapssZFrpa25qXUwo"
     "dLSvvHWC_eVz_7I9kmWAxFXyJQT8_n36z4PpCp1XMAbPOhTQPW_B_sxUXo9Tg_3j6wf6Anpaxb1a0OpK"
     "si99Xj1dblxnTRCM38l7i14lvGNsJZmf5l-VU5h3Ur6RXXsHjnuocRsHQv91CtWawlzBNXgupjBAnVrp"
     "1g26AQ"},
    {"a key for other operations", "the key is not known for that algorithm",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogIm9wcyJ9.eyJzdWIiOiAiYWxpY2UifQ.GH39B_pNJy9yya-h"
     "nABFJYEY9FiCr6-YljzVGnZ8LUXkNcY-3g04lU0TogQ3t_C8OlwxvBXyiHL7E8ySCFjHPY89CxEnEAgs"
     "BzDbmzqLauElzcXWjGeoER8UQE7Nfz8f6gb5afnUH0XjAOElquifx8nTAa8AlT8KoTnIYDbSpaxpLS5q"
     "D_sRGpWPBUsbkbXTn3Pf93qzhO161iSkx1whVNO1Cv789pRxxN0dPWQ5Obpa9hTA34ouUz-GihUabpOs"
     "uEe0MEPCAoS79G6WLvYUHtyliVuzobcSOiEAGFUA05xMOl7MaDsSJqyfw_qYAWKOv-0Ygf7F1Un31LVz"
     "ZueGFQ"},
    {"an unknown key", "the key is not known for that algorithm",
     "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInVua25vd24ifQ.eyJzdWIiOiAiYWxpY2UifQ.FLICaFHI3o"
     "EhDJdXT4w4QD9spsCQfzu6exBfxa3ATOjgk_tqKqhsMSk05XmsPbKn1te2Z8Jlni02Fq-tPvVTrgKH4-"
     "0vQ_d8bH4YDWXFZKJCypRPA8-JLUVx8qMlox2IVclxa9v-4VdqcDCKk4ahiTZiTnHSZsytcfb_g062pi"
     "yukPOlur-hevGL8vPPQrYizUR_bA6W8ksVhD7hyxUXgfAVpYC1nFx6O--ge2fk1kTwg0W98jII5MspQw"
     "pr2oxl1G5Ttw0sundBA2HXfuQLq2BV9kohifj0qjHzFQMzYQnwlwQs4fXXEncHOYY2eIHb7gZi-9or-V"
     "3drK1n3v2DJg"},
    {"a short signature", "the signature is wrong",
     "eyJhbGciOiAiRVMyNTYiLCAia2lkIjogImUifQ.eyJzdWIiOiAiYWxpY2UifQ.SKI9KnfHsWOp8S66pm"
     "2PJQzEMqWncVJjxcF3zDF797qGQ-pd0SzIYQxok24tXi4O7OAVPbq-hcev1PGwFxyl"},
};

static struct key_set *parse(const char *text)
{
    struct error err = ERROR_INIT;
    struct key_set *set = key_set_parse(text, strlen(text), &err);

    if (!set)
        fail_msg("%s", err.message);
    return set;
}

static int verify(const struct key_set *set, const char *token, struct error *err)
{
    struct jwt jwt;
    int status;

    assert_int_equal(jwt_read(&jwt, token, err), 0);
    status = key_set_verify(set, &jwt, token, err);
    jwt_deinit(&jwt);
    return status;
}

static void test_what_was_signed_is_verified(void **state)
{
    struct key_set *set = parse(key_set_text);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
        struct error err = ERROR_INIT;

        print_message("%s\n", good[i].name);
        assert_int_equal(verify(set, good[i].token, &err), 0);
    }
    key_set_free(set);
}

static void test_nothing_else_is(void **state)
{
    struct key_set *set = parse(key_set_text);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct error err = ERROR_INIT;

        print_message("%s\n", bad[i].name);
        assert_int_equal(verify(set, bad[i].token, &err), -1);
        assert_string_equal(err.message, bad[i].reason);
    }
    key_set_free(set);
}

/* Every character of the signature counts, and every one of what is signed. */
static void test_no_changed_character_goes_unnoticed(void **state)
{
    struct key_set *set = parse(key_set_text);
    const char *token = good[4].token;
    size_t length = strlen(token);

    (void)state;
    for (size_t i = 0; i < length; i++) {
        char *changed = memory_copy_string(token);
        struct error err = ERROR_INIT;
        struct jwt jwt;

        if (token[i] != '.')
            changed[i] = token[i] == 'A' ? 'B' : 'A';
        if (token[i] != '.' && jwt_read(&jwt, changed, &err) == 0) {
            assert_int_equal(key_set_verify(set, &jwt, changed, &err), -1);
            jwt_deinit(&jwt);
        }
        free(changed);
    }
    key_set_free(set);
}

static void test_keys_are_found_by_name(void **state)
{
    static const char *const missing[] = {"s", "o", "enc", "ops", "bad", "", "R"};
    struct key_set *set = parse(key_set_text);

    (void)state;
    assert_true(key_set_has(set, "r"));
    assert_true(key_set_has(set, "e"));
    for (size_t i = 0; i < ARRAY_SIZE(missing); i++)
        assert_false(key_set_has(set, missing[i]));
    assert_false(key_set_has(NULL, "r"));
    key_set_free(set);
}

static void test_a_set_without_a_usable_key_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":[]}",
        "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"k\",\"k\":\"c2VjcmV0\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"k\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"kid\":\"k\",\"crv\":\"P-256\",\"x\":\"A\",\"y\":\"AAAAA\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k\",\"n\":\"AAAAA\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k\",\"n\":\"\",\"e\":\"\"}]}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct error err = ERROR_INIT;

        assert_null(key_set_parse(texts[i], strlen(texts[i]), &err));
        assert_int_equal(err.code, ERROR_INVALID_REQUEST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_signed_is_verified),
        cmocka_unit_test(test_nothing_else_is),
        cmocka_unit_test(test_no_changed_character_goes_unnoticed),
        cmocka_unit_test(test_keys_are_found_by_name),
        cmocka_unit_test(test_a_set_without_a_usable_key_is_none),
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
