import type { ComponentChildren } from 'preact';
import type { LiveState } from '../hooks.ts';

/** The state of a list: an error, the first load, or no rows. */
export function ListState({
  error,
  loading,
  isEmpty,
  empty,
}: {
  readonly error: string | null;
  readonly loading: boolean;
  readonly isEmpty: boolean;
  /** What an empty list says. */
  readonly empty: ComponentChildren;
}) {
  if (error !== null)
    return (
      <p class="problem" role="alert">
        {error}
      </p>
    );
  if (!isEmpty) return null;
  return loading ? <p role="status">Loading…</p> : <p class="quiet">{empty}</p>;
}

/** Loads the next page of a list. */
export function MoreButton({ more, loading }: { readonly more: (() => void) | null; readonly loading: boolean }) {
  if (more === null) return null;
  return (
    <button type="button" onClick={more} disabled={loading}>
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

/** Whether a list is live, and why not. */
export function LiveBadge({ state }: { readonly state: LiveState }) {
  if (state === 'connecting') return <Badge tone="plain">connecting</Badge>;
  if (state === 'live') return <Badge tone="good">live</Badge>;
  return <Badge tone="bad">not live: {state.interrupted}</Badge>;
}
