// A server that the graph is compared with. It is Koa that renders the rows of FILE as JSON, or Yoga on Koa as in its
// documentation, without logging.
//   node bench/graph-peer.ts PORT koa|yoga FILE
import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { createYoga } from 'graphql-yoga';
import Koa from 'koa';

const [, , port, kind, file = ''] = process.argv;
const rows: readonly object[] = JSON.parse(readFileSync(file, 'utf8'));
const koa = new Koa();

function serveRest(): void {
  koa.use((ctx) => {
    ctx.body = ctx.path === '/rows' ? { data: rows } : { hello: 'world' };
  });
}

function serveYoga(): void {
  const schema = buildSchema(`
    type Entry {
      entryId: ID!
      provider: String
      mode: String
      maxInputTokens: Int
      maxOutputTokens: Int
      inputCostPerToken: String
      supportsVision: Boolean
    }
    type Connection { nodes: [Entry!]! }
    type Query { catalogEntries(first: Int): Connection! }
  `);
  const yoga = createYoga<Koa.ParameterizedContext>({ schema, logging: false });
  const query = schema.getQueryType()?.getFields()['catalogEntries'];
  if (query === undefined) throw new TypeError('The schema has no field `catalogEntries`.');
  query.resolve = () => ({ nodes: rows });
  koa.use(async (ctx) => {
    const response = await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, ctx);
    ctx.status = response.status;
    response.headers.forEach((value, name) => ctx.append(name, value));
    ctx.body = response.body;
  });
}

if (kind === 'yoga') serveYoga();
else serveRest();
koa.listen(Number(port), '127.0.0.1', 4096);
process.once('SIGTERM', () => process.exit(0));
