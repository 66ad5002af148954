// Preloaded (node --import) into a server without a host setting: makes it listen on 127.0.0.1 only. Plain JavaScript,
// because older Node versions do not strip types.
import { Server } from 'node:net';

const { listen } = Server.prototype;

Server.prototype.listen = function listenOnLoopback(...args) {
  const callback = args.find((arg) => typeof arg === 'function');
  const [target] = args;
  const options =
    typeof target === 'object' && target !== null
      ? { ...target, host: '127.0.0.1' }
      : { port: Number(target), host: '127.0.0.1' };
  return Reflect.apply(listen, this, callback === undefined ? [options] : [options, callback]);
};
