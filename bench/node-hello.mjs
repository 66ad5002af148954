// A bare node:http server, for the start cost of Node.
//   node bench/node-hello.mjs PORT
import { createServer } from 'node:http';

createServer((_request, response) => response.end('ok')).listen(Number(process.argv[2]), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
