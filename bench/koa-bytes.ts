// Koa with prepared bytes: the cheapest answer of a given body through Koa.
//   node bench/koa-bytes.ts PORT FILE
import { readFileSync } from 'node:fs';
import Koa from 'koa';

const [, , port, file = ''] = process.argv;
const bytes = readFileSync(file);
const koa = new Koa();
koa.use((ctx) => {
  ctx.type = 'application/json';
  ctx.body = bytes;
});
koa.listen(Number(port), '127.0.0.1', 4096);
process.once('SIGTERM', () => process.exit(0));
