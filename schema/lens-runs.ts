import { countLensRuns, listLensRuns } from '../resolvers/lens.ts';
import { type LensRun, RUN_PAGE_SIZE } from '../src/domain/lens/lens.ts';
import type { RunPlace } from '../src/domain/lens/store.ts';
import { builder } from './base/builder.ts';
import { LensRunType, LensType } from './lens-types.ts';
import { CONTENT_COST } from './base/limits.ts';
import { type Connection, edgesOf, forwardPage } from './base/paging.ts';
import { readCreationCursor } from './base/row-pages.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';

const DEFAULT_RUNS = 20;

interface RunList extends Connection<LensRun> {
  readonly lensId: string;
}

const LensRunConnectionType = builder.connectionObject(
  {
    type: LensRunType,
    name: 'LensRunConnection',
    description: 'One page of the runs of a lens.',
    fields: (t) => ({
      totalCount: t.int({
        complexity: CONTENT_COST,
        description: 'Number of runs of the lens, on all pages.',
        resolve: (page, _args, { scope }) => countLensRuns(scope, { id: (page as RunList).lensId }),
      }),
    }),
  },
  { name: 'LensRunEdge', description: 'One run of a page.' },
);

const cursorOf = ({ createdAt, id }: RunPlace): string =>
  Buffer.from(`${Date.parse(createdAt)}:${id}`).toString('base64url');

/** Place of the run of a cursor; 0 without a cursor, for the first page. Throws InvalidInput for a malformed cursor. */
function placeOf(cursor: string | null | undefined): 0 | RunPlace {
  if (typeof cursor !== 'string') return 0;
  const { createdAt, id } = readCreationCursor(cursor);
  return { createdAt: createdAt.toISOString(), id };
}

builder.objectField(LensType, 'runs', (t) =>
  t.field({
    type: LensRunConnectionType,
    nullable: true,
    complexity: ({ first }) => ({
      field: CONTENT_COST,
      multiplier: Math.max(0, Math.min(first ?? DEFAULT_RUNS, RUN_PAGE_SIZE)),
    }),
    description: 'Its runs, the latest first. Null when they could not be read.',
    args: {
      first: t.arg.int({ description: `Page size, 1 to ${RUN_PAGE_SIZE}; ${DEFAULT_RUNS} when absent.` }),
      after: t.arg.string({ description: 'Returns runs after this cursor.' }),
    },
    async resolve({ lens }, { first, after }, { scope }): Promise<RunList> {
      const page = {
        id: lens.id,
        from: placeOf(after),
        limit: checkedPageSize(first ?? DEFAULT_RUNS, { max: RUN_PAGE_SIZE }),
      };
      const { items, hasMore } = await listLensRuns(scope, page);
      const hasPreviousPage = typeof after === 'string';
      return {
        ...forwardPage(edgesOf(items, cursorOf), { hasNextPage: hasMore, hasPreviousPage }),
        lensId: lens.id,
      };
    },
  }),
);
