import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { TypedDocumentString } from './generated/graphql.ts';
import { GraphError, request, subscribe } from './graph-client.ts';

/** Name of the event for a credential that the server refuses. */
export const SIGNED_OUT = 'lensgate-signed-out';

/** Message of a failure. Tells the page when the credential was refused. */
export function messageOf(error: unknown): string {
  if (error instanceof GraphError && error.signedOut) dispatchEvent(new Event(SIGNED_OUT));
  return error instanceof Error ? error.message : String(error);
}

export interface Query<Result> {
  /** The last result; null before the first. */
  readonly data: Result | null;
  readonly error: string | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

/** Runs a query when the variables change, and at `reload`. A newer run supersedes an older one. */
export function useQuery<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Query<Result> {
  const [state, setState] = useState<Omit<Query<Result>, 'reload'>>({ data: null, error: null, loading: true });
  const [runs, setRuns] = useState(0);
  const text = JSON.stringify(variables);
  useEffect(() => {
    let current = true;
    setState((before) => ({ ...before, loading: true }));
    request(document, JSON.parse(text) as Variables).then(
      (data) => current && setState({ data, error: null, loading: false }),
      (error: unknown) => current && setState((before) => ({ ...before, error: messageOf(error), loading: false })),
    );
    return () => {
      current = false;
    };
  }, [document, text, runs]);
  return { ...state, reload: useCallback(() => setRuns((before) => before + 1), []) };
}

/** One page of a connection. */
export interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

export interface Pages<Node> {
  readonly nodes: readonly Node[];
  readonly error: string | null;
  readonly loading: boolean;
  /** Loads the next page; null on the last one. */
  readonly more: (() => void) | null;
  readonly reload: () => void;
}

/** Reads a connection page by page. New variables start again at the first page. */
export function usePages<Result, Variables extends { after?: string | null | undefined }, Node>(
  document: TypedDocumentString<Result, Variables>,
  variables: Omit<Variables, 'after'>,
  pageIn: (result: Result) => Page<Node>,
): Pages<Node> {
  const [nodes, setNodes] = useState<readonly Node[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [loading, setLoading] = useState(true);
  const [runs, setRuns] = useState(0);
  const run = useRef(0);
  const text = JSON.stringify(variables);

  const load = useCallback(
    async (after: string | null) => {
      run.current += 1;
      const own = run.current;
      setLoading(true);
      try {
        const { nodes: found, pageInfo } = pageIn(await request(document, { ...JSON.parse(text), after } as Variables));
        if (own !== run.current) return;
        setNodes((before) => (after === null ? found : [...before, ...found]));
        setNext(pageInfo.hasNextPage ? pageInfo.endCursor : null);
        setError(null);
      } catch (failure) {
        if (own === run.current) setError(messageOf(failure));
      }
      if (own === run.current) setLoading(false);
    },
    // oxlint-disable-next-line react/exhaustive-deps -- `pageIn` is written in place and selects the same field.
    [document, text],
  );
  useEffect(() => void load(null), [load, runs]);
  return {
    nodes,
    error,
    loading,
    more: next === null ? null : () => void load(next),
    reload: useCallback(() => setRuns((before) => before + 1), []),
  };
}

/** State of a live connection: before it opens, open, or the reason why it is interrupted. */
export type LiveState = 'connecting' | 'live' | { readonly interrupted: string };

/** Runs a subscription while the component is mounted. `opened` reads again what was missed before the connection. */
export function useSubscription<Result, Variables extends Record<string, unknown>>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  handlers: { readonly opened: () => void; readonly next: (result: Result) => void },
): LiveState {
  const [state, setState] = useState<LiveState>('connecting');
  const current = useRef(handlers);
  current.current = handlers;
  const text = JSON.stringify(variables);
  useEffect(
    () =>
      subscribe(document, JSON.parse(text) as Variables, {
        opened() {
          setState('live');
          current.current.opened();
        },
        next: (result) => current.current.next(result),
        failed: (reason) => setState({ interrupted: reason }),
      }),
    [document, text],
  );
  return state;
}
