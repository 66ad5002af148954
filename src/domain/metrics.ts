/** Metrics of the process, in the text format of Prometheus. No label contains data from callers. */
export interface Metrics {
  read(): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** Why a connection was refused: too many in total, or too many without a known key from its network. */
export type RefusedFor = 'total' | 'network';

/** Connections of clients. */
export interface ConnectionCounts {
  readonly open: number;
  readonly refused: Readonly<Record<RefusedFor, number>>;
}

/** Work in progress of the process. */
export interface ProcessLoad {
  /** Requests that are not answered yet. */
  readonly openRequests: number;
  /** Calls that wait for a connection to their upstream. */
  readonly waitingCalls: number;
  /** Connections that were refused since the start. */
  readonly refused: number;
}
