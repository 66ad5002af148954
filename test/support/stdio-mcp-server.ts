/** MCP server over standard streams, as a program. Tools: `env` (a variable by its name), `pid` and `exit`. */
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'stdio-upstream', version: '1.0.0' });
const textOf = (text: string) => ({ content: [{ type: 'text' as const, text }] });

server.registerTool('env', { inputSchema: z.object({ name: z.string() }) }, ({ name }) =>
  textOf(process.env[name] ?? '(unset)'),
);
server.registerTool('pid', {}, () => textOf(String(process.pid)));
server.registerTool('exit', {}, () => {
  setImmediate(() => process.exit(1));
  return textOf('bye');
});
await server.connect(new StdioServerTransport());
