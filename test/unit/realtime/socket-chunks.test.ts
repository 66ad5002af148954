import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { webSocketServer } from '../../../src/runtime/network/web-sockets.ts';

/** A close frame with the two bytes of the code 1008, which is 0x03f0. */
const CLOSE_1008 = Buffer.from([0x88, 0x02, 0x03, 0xf0]);

it('a connection that receives a message in single bytes is closed with 1008 before 40,000 chunks', async () => {
  const sentFrames: Buffer[] = [];
  const wire = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      sentFrames.push(bytes);
      done();
    },
  });
  const request = new IncomingMessage(new Socket());
  Object.assign(request, {
    method: 'GET',
    headers: { upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' },
  });
  const options = { headers: {}, protocol: null, maxMessageBytes: 32 * 1024 * 1024 };
  const socket = await webSocketServer.accept(request, wire, Buffer.alloc(0), options);
  if (socket === null) throw new TypeError('The handshake was refused.');
  const ended = Promise.withResolvers<unknown>();
  socket.listen({ message() {}, drained() {}, alive() {}, ended: ended.resolve });
  // The header of a masked text frame of 1,000,000 (0x0f4240) bytes.
  wire.push(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x0f, 0x42, 0x40, 1, 2, 3, 4]));
  let pushed = 0;
  while (!Buffer.concat(sentFrames).includes(CLOSE_1008) && pushed < 40_000) {
    for (let chunk = 0; chunk < 1_000; chunk += 1) wire.push(Buffer.from('x'));
    pushed += 1_000;
    await turn();
  }
  expect(pushed).toBeLessThan(40_000);
  wire.destroy();
  await ended.promise;
});
