// Koa with a short JSON body: the cheapest JSON answer of the framework.
//   node bench/koa-hello.ts PORT
import Koa from 'koa';

const koa = new Koa();
koa.use((ctx) => {
  ctx.body = { hello: 'world' };
});
koa.listen(Number(process.argv[2]), '127.0.0.1', 4096);
process.once('SIGTERM', () => process.exit(0));
