#!/bin/sh
# A client of pyexecd in the shell alone: prints the answer, one line of JSON.
#
#     sh examples/client.sh pyexecd 'print(6 * 7)'
#
# Exit code 0 when the script succeeded. A message of the revision 2026-07-28 stands alone, so there
# is no handshake. The server's input stays open until the answer is there: its end leaves a run one
# more second.
set -eu
[ $# -eq 2 ] || { echo 'usage: client.sh PROGRAM CODE' >&2; exit 64; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/in" "$folder/out"
"$1" <"$folder/in" >"$folder/out" &
exec 3>"$folder/in" 4<"$folder/out"

# The code as the inside of a JSON string.
code=$(printf '%s' "$2" | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' | awk '{ printf "%s%s", sep, $0; sep = "\\n" }')

printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s,%s}}\n' \
    '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"client.sh","version":"1"}}' \
    "\"name\":\"run_python\",\"arguments\":{\"code\":\"$code\"}" >&3
IFS= read -r answer <&4
exec 3>&- 4<&-
wait

printf '%s\n' "$answer"
case "$answer" in
*'"isError":true'* | *'"error":{'*) exit 1 ;;
esac
