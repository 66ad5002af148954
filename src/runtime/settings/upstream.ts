import type { SettingValues } from './table.ts';

/** Settings of calls to upstreams. */
export interface UpstreamSettings {
  /** Client that the setting names; for `auto`, `undici` when a forward proxy is configured. */
  readonly client: 'native' | 'undici';
  /** Maximum number of connections to one origin. */
  readonly connections: number;
  /** Share that one key may use of the connections that other keys leave free, above 0 and up to 1. */
  readonly connectionShare: number;
  /** Idle time within an answer after which the call fails, in seconds. */
  readonly silenceSeconds: number;
  /** Time after which a client that reads nothing of its answer is disconnected, in seconds. */
  readonly stalledReaderSeconds: number;
}

export function upstreamOf(values: SettingValues): UpstreamSettings {
  const automatic = values.httpProxy !== null || values.httpsProxy !== null ? 'undici' : 'native';
  return {
    client: values.httpClient === 'auto' ? automatic : values.httpClient,
    connections: values.upstreamConnections,
    connectionShare: values.upstreamConnectionShare,
    silenceSeconds: values.upstreamSilenceSeconds,
    stalledReaderSeconds: values.stalledReaderSeconds,
  };
}
