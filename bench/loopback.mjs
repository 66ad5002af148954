// Preloaded (node --import) into a server without a host setting: makes it listen on 127.0.0.1 only. Plain JavaScript,
// because older Node versions do not strip types.
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function listenOnLoopback(...args) {
  const told = args.find((arg) => typeof arg === 'function');
  const [where] = args;
  const options =
    typeof where === 'object' && where !== null
      ? { ...where, host: '127.0.0.1' }
      : { port: Number(where), host: '127.0.0.1' };
  return Reflect.apply(listen, this, told === undefined ? [options] : [options, told]);
};
