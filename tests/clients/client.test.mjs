// The official TypeScript clients over stdio: 2.x in each of its negotiation modes, and 1.x.
// PYEXECD is the program, CLIENTS the folder whose node_modules holds the clients.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';

const require = createRequire(join(process.env.CLIENTS, 'package.json'));
const { Client } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
const { Client: Client1 } = require('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport: Transport1 } = require('@modelcontextprotocol/sdk/client/stdio.js');

const INFO = { name: 'pyexecd-test', version: '1' };
const LIMIT = { timeout: 30_000 };

// Lists the tool, then calls it with a script that works, one that fails and one that is cancelled.
async function useTheTool(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ['run_python']);

  const call = (code, options) =>
    client.callTool({ name: 'run_python', arguments: { code } }, ...options);
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

async function withClient2(mode, use) {
  const client = new Client(INFO, mode && { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command: process.env.PYEXECD, stderr: 'inherit' }));
  try {
    await use(client);
  } finally {
    await client.close();
  }
}

for (const [name, mode, revision] of [
  ['by default', undefined, '2025-11-25'],
  ['legacy', 'legacy', '2025-11-25'],
  ['auto', 'auto', '2026-07-28'],
  ['pinned', { pin: '2026-07-28' }, '2026-07-28'],
]) {
  test(`@modelcontextprotocol/client 2.x, ${name}`, LIMIT, () =>
    withClient2(mode, async (client) => {
      assert.equal(client.getNegotiatedProtocolVersion(), revision);
      assert.equal(client.getServerVersion().name, 'pyexecd');
      const call = await useTheTool(client);
      await cancels(call, (signal) => [{ signal }]);
      // The connection goes on after a cancelled call.
      assert.equal((await call('print("after")', [])).structuredContent.stdout, 'after\n');
    }));
}

test('@modelcontextprotocol/client 2.x hears of progress', LIMIT, () =>
  withClient2('auto', async (client) => {
    const heard = [];
    const code = 'import time\nfor i in range(6):\n    print("step", i, flush=True)\n    time.sleep(1)';
    await client.callTool(
      { name: 'run_python', arguments: { code } },
      { onprogress: (progress) => heard.push(progress) },
    );
    assert.ok(heard.some(({ message }) => /^step \d/.test(message)), JSON.stringify(heard));
  }));

test('@modelcontextprotocol/sdk 1.x', LIMIT, async () => {
  const client = new Client1(INFO);
  await client.connect(new Transport1({ command: process.env.PYEXECD, stderr: 'inherit' }));
  try {
    assert.equal(client.getServerVersion().name, 'pyexecd');
    const call = await useTheTool(client);
    await cancels(call, (signal) => [undefined, { signal }]);
    await client.ping();
  } finally {
    await client.close();
  }
});
