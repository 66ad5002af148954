// A bare node:http server: what Node itself costs to start.
//   node bench/node-hello.mjs PORT
import { createServer } from 'node:http';

createServer((_request, response) => response.end('ok')).listen(Number(process.argv[2]), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
