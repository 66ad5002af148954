import type { RowStore, Stamps } from '../row-store.ts';

/** Failures that fallbacks are configured for: every failure, a prompt that is too long, a refused content. */
export type FallbackType = 'general' | 'context_window' | 'content_policy';

/** Models that are called after a model failed, in order. */
export interface ModelFallback extends Stamps {
  /** By `fallbackId`. */
  readonly id: string;
  readonly model: string;
  readonly type: FallbackType;
  readonly targets: readonly string[];
}

export const fallbackId = (model: string, type: FallbackType): string => `${type}:${model}`;

/** Filter of fallbacks: null lists all. */
interface FallbackFilter {
  readonly model: string | null;
}

/** Persistent fallbacks. */
export interface FallbackStore extends RowStore<ModelFallback, FallbackFilter> {
  /** A text that is another one after every change of any row, also by another process. */
  fingerprint(): Promise<string>;
}
