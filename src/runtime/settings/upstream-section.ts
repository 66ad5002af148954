import { z } from 'zod';

export const CLIENTS = ['auto', 'native', 'undici'] as const;
export type ClientChoice = (typeof CLIENTS)[number];

/** Beyond the number of ports, no more connections to one address are possible. */
export const MOST_CONNECTIONS = 65_535;
/** A day: longer than anybody waits for an answer. */
const MOST_WAIT_SECONDS = 86_400;

/** The settings of `general_settings` about upstreams. */
export const UPSTREAM_SECTION = {
  http_client: z.enum(CLIENTS).optional(),
  upstream_connections: z.int().min(1).max(MOST_CONNECTIONS).optional(),
  upstream_connection_share: z.number().positive().max(1).optional(),
  upstream_silence_seconds: z.number().positive().max(MOST_WAIT_SECONDS).optional(),
  stalled_reader_seconds: z.number().positive().max(MOST_WAIT_SECONDS).optional(),
} as const;

/** What the file says of them. */
export interface UpstreamSection {
  readonly http_client?: ClientChoice | undefined;
  readonly upstream_connections?: number | undefined;
  readonly upstream_connection_share?: number | undefined;
  readonly upstream_silence_seconds?: number | undefined;
  readonly stalled_reader_seconds?: number | undefined;
}
