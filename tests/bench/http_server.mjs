// The official TypeScript SDK's server as ./dev bench http measures it: http_server.mjs PORT TOOL.json
// One tool, both eras, plain JSON answers, on node:http without a framework: its fastest form.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.CLIENTS, 'package.json'));
const { createMcpHandler, Server } = require('@modelcontextprotocol/server');
const { NodeStreamableHTTPServerTransport, toNodeHandler } = require('@modelcontextprotocol/node');

const [, , port, toolFile] = process.argv;
const tools = [JSON.parse(readFileSync(toolFile, 'utf8'))];

function makeServer() {
  const server = new Server({ name: 'bench', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  return server;
}

const modern = toNodeHandler(createMcpHandler(makeServer, { responseMode: 'json' }));
const sessions = new Map();

async function openSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await makeServer().connect(transport);
  return transport;
}

createServer(async (request, response) => {
  if (request.headers['mcp-protocol-version'] === '2026-07-28') return modern(request, response);
  const session = sessions.get(request.headers['mcp-session-id']) ?? (await openSession());
  await session.handleRequest(request, response);
}).listen(Number(port), '127.0.0.1');
