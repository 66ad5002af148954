import type { ComponentChildren } from 'preact';
import type { LiveState } from '../hooks.ts';

/** Message of a list: an error, the first load, or no rows. Nothing while there are rows. */
export function ListState({
  error,
  isLoading,
  isEmpty,
  emptyText,
}: {
  readonly error: string | null;
  readonly isLoading: boolean;
  readonly isEmpty: boolean;
  /** Shown when the list is loaded and has no rows. */
  readonly emptyText: ComponentChildren;
}) {
  if (error !== null)
    return (
      <p class="problem" role="alert">
        {error}
      </p>
    );
  if (!isEmpty) return null;
  return isLoading ? <p role="status">Loading…</p> : <p class="quiet">{emptyText}</p>;
}

/** Button that loads the next page of a list; nothing on the last page, where `loadMore` is null. */
export function MoreButton({
  loadMore,
  isLoading,
}: {
  readonly loadMore: (() => void) | null;
  readonly isLoading: boolean;
}) {
  if (loadMore === null) return null;
  return (
    <button type="button" onClick={loadMore} disabled={isLoading}>
      Show more
    </button>
  );
}

/** A status as a coloured word. */
export function Badge({
  tone,
  children,
}: {
  readonly tone: 'good' | 'bad' | 'plain';
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Whether a list is live, or the reason why its live connection is interrupted. */
export function LiveBadge({ state }: { readonly state: LiveState }) {
  if (state === 'connecting') return <Badge tone="plain">connecting</Badge>;
  if (state === 'live') return <Badge tone="good">live</Badge>;
  return <Badge tone="bad">not live: {state.interrupted}</Badge>;
}
