import { describe, expect, it } from 'vitest';
import { aSession, aSocket } from '../../support/realtime-session.ts';

describe('the sessions of a process', () => {
  it('are limited in number', async () => {
    const setup = await aSession();
    // The limit of `aSession` is two.
    const secondSession = await setup.open();
    await expect(setup.open()).rejects.toThrow('Too many realtime sessions are open. Try again later.');
    secondSession.abandon();
    expect(setup.ends()).toEqual([['failure', 'CLIENT_GONE']]);
    (await setup.open()).abandon();
    expect(setup.realtime.count()).toBe(1);
  });

  it.each(['opens too late', 'never opens'])(
    'end when the process stops, also one whose upstream %s',
    async (upstreamKind) => {
      const upstreams = [aSocket(), aSocket()];
      const opening = Promise.withResolvers<void>();
      const setup = await aSession({
        open: async (upstream, signal) => {
          const [socket = aSocket()] = upstreams.splice(0, 1);
          // The first session opens at once.
          if (upstreams.length > 0) return upstream;
          opening.resolve();
          await new Promise<void>((resolve, reject) => {
            signal.addEventListener('abort', () =>
              upstreamKind === 'never opens' ? reject(signal.reason as Error) : resolve(),
            );
          });
          return { ...upstream, socket: socket.socket };
        },
      });
      const late = setup.open();
      await opening.promise;
      const allEnded = setup.realtime.ended();
      setup.realtime.endAll();
      await expect(late).rejects.toThrow('The process is shutting down.');
      await allEnded;
      expect(setup.ends()).toEqual([
        ['failure', 'UNAVAILABLE'],
        ['failure', 'UNAVAILABLE'],
      ]);
    },
  );

  it('end when the process stops, with or without a joined caller', async () => {
    const setup = await aSession();
    await setup.open();
    const allEnded = setup.realtime.ended();
    setup.realtime.endAll();
    await allEnded;
    expect(setup.ends()).toEqual([
      ['failure', 'UNAVAILABLE'],
      ['failure', 'UNAVAILABLE'],
    ]);
    expect(setup.client.calls).toEqual(['The process is shutting down.', '(close 1001)']);
  });
});
