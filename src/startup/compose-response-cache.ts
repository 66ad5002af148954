import { connectRedis } from '../runtime/admission/redis/redis-client.ts';
import { systemClock } from '../runtime/clock.ts';
import { type ConfiguredCache, createResponseCache } from '../runtime/response-cache/create-response-cache.ts';
import { serverOf, withoutLogin } from '../runtime/settings/response-cache.ts';
import type { RunningConfiguration } from '../runtime/stored-settings/configuration.ts';
import type { StartContext } from './context.ts';

/** The cache of answers, with the settings of the configuration in force. */
export function composeResponseCache(
  { settings, log, shutdown, state }: StartContext,
  configuration: Pick<RunningConfiguration, 'onChange' | 'responseCache'>,
): ConfiguredCache {
  const cache = createResponseCache({
    connect: ({ url, prefix }) => connectRedis({ url, namespace: prefix }),
    serverOf: (params) => serverOf(params, withoutLogin(settings.cacheServer)),
    nowMs: () => systemClock.monotonicMs(),
    changed(failure) {
      if (state.draining) return;
      if (failure === null) log.info({}, 'the cache of answers answers again');
      else log.warn({ err: failure }, 'the cache of answers does not answer: calls are sent to their upstreams');
    },
  });
  cache.configure(configuration.responseCache());
  const stopListening = configuration.onChange(() => cache.configure(configuration.responseCache()));
  shutdown.add('cache of answers', () => {
    stopListening();
    cache.close();
  });
  return cache;
}
