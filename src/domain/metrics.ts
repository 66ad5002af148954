/** What the process measures of itself, in the text format of Prometheus. No label ever carries what a caller sent. */
export interface Metrics {
  read(): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** Why a connection was refused: too many at all, or too many of its network without a known key. */
export type RefusedFor = 'total' | 'network';

/** Connections of clients. */
export interface ConnectionCounts {
  readonly open: number;
  readonly refused: Readonly<Record<RefusedFor, number>>;
}
