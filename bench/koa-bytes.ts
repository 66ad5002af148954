// Koa answering bytes that were made before it began: the cheapest way to give that answer through it.
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
