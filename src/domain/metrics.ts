/** What the process measures of itself, in the text format of Prometheus. No label ever carries what a caller sent. */
export interface Metrics {
  read(): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}
