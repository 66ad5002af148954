import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { TypedDocumentString } from './generated/graphql.ts';
import { GraphError, request, subscribe } from './graph-client.ts';

/** Name of the event that reports a refused credential. */
export const SIGNED_OUT = 'lensgate-signed-out';

/** Message of a failure. Dispatches `SIGNED_OUT` if the server refused the credential. */
export function messageOf(error: unknown): string {
  if (error instanceof GraphError && error.isSignedOut) dispatchEvent(new Event(SIGNED_OUT));
  return error instanceof Error ? error.message : String(error);
}

export interface Query<Result> {
  /** The last result; null before the first. */
  readonly data: Result | null;
  readonly error: string | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Runs a query when the variables change, and at `reload`. Results of older runs are ignored. */
export function useQuery<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
): Query<Result> {
  const [state, setState] = useState<Omit<Query<Result>, 'reload'>>({ data: null, error: null, isLoading: true });
  const [runs, setRuns] = useState(0);
  const text = JSON.stringify(variables);
  useEffect(() => {
    let isCurrent = true;
    setState((before) => ({ ...before, isLoading: true }));
    request(document, JSON.parse(text) as Variables).then(
      (data) => isCurrent && setState({ data, error: null, isLoading: false }),
      (error: unknown) => isCurrent && setState((before) => ({ ...before, error: messageOf(error), isLoading: false })),
    );
    return () => {
      isCurrent = false;
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
  readonly isLoading: boolean;
  /** Loads the next page; null on the last page. */
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
  const [isLoading, setIsLoading] = useState(true);
  const [runs, setRuns] = useState(0);
  const latestRun = useRef(0);
  const text = JSON.stringify(variables);

  const load = useCallback(
    async (after: string | null) => {
      latestRun.current += 1;
      const thisRun = latestRun.current;
      setIsLoading(true);
      try {
        const result = await request(document, { ...JSON.parse(text), after } as Variables);
        const { nodes: found, pageInfo } = pageIn(result);
        if (thisRun !== latestRun.current) return;
        setNodes((before) => (after === null ? found : [...before, ...found]));
        setNext(pageInfo.hasNextPage ? pageInfo.endCursor : null);
        setError(null);
      } catch (failure) {
        if (thisRun === latestRun.current) setError(messageOf(failure));
      }
      if (thisRun === latestRun.current) setIsLoading(false);
    },
    // oxlint-disable-next-line react/exhaustive-deps -- callers pass a new, equal `pageIn` at each render.
    [document, text],
  );
  useEffect(() => void load(null), [load, runs]);
  return {
    nodes,
    error,
    isLoading,
    more: next === null ? null : () => void load(next),
    reload: useCallback(() => setRuns((before) => before + 1), []),
  };
}

/** State of a live connection: opening, open, or interrupted with a reason. */
export type LiveState = 'connecting' | 'live' | { readonly interrupted: string };

/** Runs a subscription while the component is mounted. `opened` should reload data: earlier updates are not sent. */
export function useSubscription<Result, Variables extends Record<string, unknown>>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  handlers: { readonly opened: () => void; readonly next: (result: Result) => void },
): LiveState {
  const [state, setState] = useState<LiveState>('connecting');
  const latestHandlers = useRef(handlers);
  latestHandlers.current = handlers;
  const text = JSON.stringify(variables);
  useEffect(
    () =>
      subscribe(document, JSON.parse(text) as Variables, {
        opened() {
          setState('live');
          latestHandlers.current.opened();
        },
        next: (result) => latestHandlers.current.next(result),
        failed: (reason) => setState({ interrupted: reason }),
      }),
    [document, text],
  );
  return state;
}
