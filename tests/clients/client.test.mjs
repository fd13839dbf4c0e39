// The official TypeScript clients over stdio and HTTP: 2.x in each of its negotiation modes, and 1.x.
// PYEXECD is the program, CLIENTS the folder whose node_modules holds the clients.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const require = createRequire(join(process.env.CLIENTS, 'package.json'));
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
const { Client: Client1 } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport: StdioTransport1 } = require('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport: HttpTransport1 } =
  require('@modelcontextprotocol/sdk/client/streamableHttp.js');

const INFO = { name: 'pyexecd-test', version: '1' };
const LIMIT = { timeout: 30_000 };
const COMMAND = { command: process.env.PYEXECD, stderr: 'inherit' };

let served; // the program for HTTP, once a test has asked for it

// A port that nobody listens at, below those that the kernel gives to connections.
async function freePort() {
  for (;;) {
    const port = randomInt(20000, 32000);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
      return port;
    } catch {
      continue;
    } finally {
      probe.close();
    }
  }
}

async function listens(port) {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    } finally {
      socket.destroy();
    }
  }
}

async function serve() {
  const port = await freePort();
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const folder = mkdtempSync(join(tmpdir(), 'pyexecd-test-'));
  const config = join(folder, 'config.yaml');
  writeFileSync(config, JSON.stringify({ listen: [url.href], auth: 'none' }), { mode: 0o600 });
  const server = spawn(process.env.PYEXECD, ['--config', config], { stdio: ['ignore', 'ignore', 'inherit'] });
  await listens(port);
  return { server, url, folder };
}

// Not in `before`: where the pattern names no test, that runs and `after` does not.
async function url() {
  served ??= serve();
  return (await served).url;
}

after(async () => {
  if (!served) return;
  const { server, folder } = await served;
  const ended = once(server, 'exit');
  server.kill();
  assert.deepEqual(await ended, [0, null]);
  rmSync(folder, { recursive: true });
}, LIMIT);

const TRANSPORTS = {
  stdio: [async () => new StdioClientTransport(COMMAND), async () => new StdioTransport1(COMMAND)],
  HTTP: [async () => new StreamableHTTPClientTransport(await url()),
         async () => new HttpTransport1(await url())],
};

// A program wants the structured form, which the SDKs check against the schema that was listed.
const _meta = { 'pyexecd/results': 'structured' };

// Lists the tools, then calls one with a script that works, one that fails and one that is cancelled.
async function useTheTool(client) {
  const { tools } = await client.listTools({ _meta });
  const tool = tools.find(({ name }) => name === 'run_python');
  assert.ok(tool.outputSchema);

  const call = (code, options) =>
    client.callTool({ name: 'run_python', arguments: { code }, _meta }, ...options);
  const works = await call('print(6 * 7)', []);
  assert.equal(works.structuredContent.stdout, '42\n');
  assert.ok(!works.isError);
  assert.match(works.content[0].text, /^exitcode: 0 \(execution succeeded\)\nCode output: 42/);

  const fails = await call('print(1 / 0)', []);
  assert.equal(fails.isError, true);
  assert.equal(fails.structuredContent.returncode, 1);
  assert.match(fails.structuredContent.stderr, /ZeroDivisionError/);
  return call;
}

async function cancels(call, options) {
  const aborter = new AbortController();
  setTimeout(() => aborter.abort(), 300);
  await assert.rejects(call('import time; time.sleep(300)', options(aborter.signal)));
}

async function withClient(client, transport, use) {
  await client.connect(await transport);
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

const client2 = (mode) => new Client(INFO, mode && { versionNegotiation: { mode } });

for (const [name, [makeTransport, makeTransport1]] of Object.entries(TRANSPORTS)) {
  for (const [way, mode, revision] of [
    ['by default', undefined, '2025-11-25'],
    ['legacy', 'legacy', '2025-11-25'],
    ['auto', 'auto', '2026-07-28'],
    ['pinned', { pin: '2026-07-28' }, '2026-07-28'],
  ]) {
    test(`@modelcontextprotocol/client 2.x over ${name}, ${way}`, LIMIT, () =>
      withClient(client2(mode), makeTransport(), async (client) => {
        assert.equal(client.getNegotiatedProtocolVersion(), revision);
        assert.equal(client.getServerVersion().name, 'pyexecd');
        const call = await useTheTool(client);
        await cancels(call, (signal) => [{ signal }]);
        // The connection goes on after a cancelled call.
        assert.equal((await call('print("after")', [])).structuredContent.stdout, 'after\n');
      }));

    if (way !== 'by default' && way !== 'auto') continue; // it takes its time
    test(`@modelcontextprotocol/client 2.x over ${name}, ${way}, hears of progress`, LIMIT, () =>
      withClient(client2(mode), makeTransport(), async (client) => {
        const heard = [];
        const code = 'import time\nfor i in range(6):\n    print("step", i, flush=True)\n    time.sleep(1)';
        await client.callTool(
          { name: 'run_python', arguments: { code } },
          { onprogress: (progress) => heard.push(progress) },
        );
        assert.ok(heard.some(({ message }) => /^step \d/.test(message)), JSON.stringify(heard));
      }));
  }

  test(`@modelcontextprotocol/sdk 1.x over ${name}`, LIMIT, () =>
    withClient(new Client1(INFO), makeTransport1(), async (client) => {
      assert.equal(client.getServerVersion().name, 'pyexecd');
      const call = await useTheTool(client);
      await cancels(call, (signal) => [undefined, { signal }]);
      await client.ping();
    }));
}
