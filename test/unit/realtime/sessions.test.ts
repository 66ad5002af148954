import { describe, expect, it } from 'vitest';
import { aSession, aSocket } from '../../support/realtime-session.ts';

describe('the sessions of a process', () => {
  it('are so many and no more', async () => {
    const house = await aSession();
    const second = await house.open();
    await expect(house.open()).rejects.toThrow('Too many realtime sessions are open. Try again later.');
    second.abandon();
    expect(house.ends()).toEqual([['failure', 'CLIENT_GONE']]);
    (await house.open()).abandon();
    expect(house.realtime.count()).toBe(1);
  });

  it.each(['opens too late', 'never opens'])(
    'leave none behind whose upstream %s when the process goes',
    async (how) => {
      const upstreams = [aSocket(), aSocket()];
      const opening = Promise.withResolvers<void>();
      const house = await aSession({
        open: async (upstream, signal) => {
          const [socket = aSocket()] = upstreams.splice(0, 1);
          if (upstreams.length > 0) return upstream;
          opening.resolve();
          await new Promise<void>((resolve, reject) => {
            signal.addEventListener('abort', () =>
              how === 'never opens' ? reject(signal.reason as Error) : resolve(),
            );
          });
          return { ...upstream, socket: socket.socket };
        },
      });
      const late = house.open();
      await opening.promise;
      const none = house.realtime.ended();
      house.realtime.endAll();
      await expect(late).rejects.toThrow('The process is shutting down.');
      await none;
      expect(house.ends()).toEqual([
        ['failure', 'UNAVAILABLE'],
        ['failure', 'UNAVAILABLE'],
      ]);
    },
  );

  it('end when the process goes, whether their caller was joined or not', async () => {
    const house = await aSession();
    await house.open();
    const none = house.realtime.ended();
    house.realtime.endAll();
    await none;
    expect(house.ends()).toEqual([
      ['failure', 'UNAVAILABLE'],
      ['failure', 'UNAVAILABLE'],
    ]);
    expect(house.client.did).toEqual(['The process is shutting down.', '(close 1001)']);
  });
});
