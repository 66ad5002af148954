// Preloaded (node --import) into a server without a setting for its host: makes it listen on 127.0.0.1 alone.
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function listenOnLoopback(this: Server, ...args: unknown[]): Server {
  const told = args.find((arg) => typeof arg === 'function');
  const where: unknown = args[0];
  const options =
    typeof where === 'object' && where !== null
      ? { ...where, host: '127.0.0.1' }
      : { port: Number(where), host: '127.0.0.1' };
  return Reflect.apply(listen, this, told === undefined ? [options] : [options, told]);
};
