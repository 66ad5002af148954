import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GraphQLOptions } from './engine.ts';
import type { GraphQLTransport } from './server.ts';

async function build(options: Omit<GraphQLOptions, 'schema'>): Promise<GraphQLTransport> {
  const { createGraphQL } = await import('./server.ts');
  // Other requests run between the imports.
  await nextTurn();
  await import('../../schema/nouns.ts');
  await nextTurn();
  await import('../../schema/unsorted-schema.ts');
  await nextTurn();
  const { schema } = await import('../../schema/index.ts');
  return createGraphQL({ ...options, schema });
}

export interface LazyGraphQL extends GraphQLTransport {
  /** Loads the transport; WebSockets require it before they join. */
  load(): Promise<void>;
}

/**
 * The GraphQL transport, loaded and built at the first request or by `load`, whichever is first, so that it does not
 * delay the start.
 */
export function createLazyGraphQL(options: Omit<GraphQLOptions, 'schema'>): LazyGraphQL {
  let transport: GraphQLTransport | null = null;
  let building: Promise<GraphQLTransport> | null = null;
  let closed = false;

  function ensureBuilt(): Promise<GraphQLTransport> {
    building ??= build(options).then(
      (loaded) => {
        transport = loaded;
        if (closed) loaded.close();
        return loaded;
      },
      (failure: unknown) => {
        // The next request builds again.
        building = null;
        throw failure;
      },
    );
    return building;
  }

  return {
    load: async () => void (await ensureBuilt()),
    handle: async (exchange) => (transport ?? (await ensureBuilt())).handle(exchange),
    handleStream: async (exchange) => (transport ?? (await ensureBuilt())).handleStream(exchange),
    sockets: {
      join(socket, request, requestId) {
        if (transport === null) throw new TypeError('The GraphQL transport is not loaded.');
        transport.sockets.join(socket, request, requestId);
      },
      runChecks: () => transport?.sockets.runChecks(),
      retire: () => transport?.sockets.retire(),
      async ended() {
        const loaded = await building;
        await loaded?.sockets.ended();
      },
      endAll: () => transport?.sockets.endAll(),
    },
    close() {
      closed = true;
      transport?.close();
    },
  };
}
