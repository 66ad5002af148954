import type { GraphQLDoor, GraphQLOptions } from './server.ts';

async function open(options: Omit<GraphQLOptions, 'schema'>): Promise<GraphQLDoor> {
  const [{ createGraphQL }, { schema }] = await Promise.all([import('./server.ts'), import('../../schema/index.ts')]);
  return createGraphQL({ ...options, schema });
}

/**
 * The graph, read and built when it is first asked: neither a start nor a process that only forwards calls pays for
 * it. The first answer comes some 100 ms later than the others.
 */
export function createGraphQLDoor(options: Omit<GraphQLOptions, 'schema'>): GraphQLDoor {
  let door: GraphQLDoor | null = null;
  let opening: Promise<GraphQLDoor> | null = null;
  let closed = false;

  const opened = (): Promise<GraphQLDoor> =>
    (opening ??= open(options).then((built) => {
      door = built;
      // Whoever asked meanwhile hears why there are no live results any more.
      if (closed) door.close();
      return built;
    }));

  return {
    handle: async (exchange) => (door ?? (await opened())).handle(exchange),
    handleStream: async (exchange) => (door ?? (await opened())).handleStream(exchange),
    close() {
      closed = true;
      door?.close();
    },
  };
}
