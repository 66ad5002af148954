import { MAX_TTL_SECONDS } from '../../src/domain/response-cache/cache-settings.ts';
import { isOwnResponseId } from '../../src/domain/responses/response-ids.ts';
import type { ResponsePlatform } from './platform.ts';
import { findStored } from './response-context.ts';
import type { Scope } from './scope.ts';

type ResponseScope = Scope<ResponsePlatform>;

/** Value of a mark in the cache of answers. */
const MARK = new TextEncoder().encode('deleted');

const markOf = ({ platform }: ResponseScope, id: string): string =>
  `deleted:${platform.responseCache.digest(JSON.stringify(['deleted response', id]))}`;

/**
 * Marks a response that its upstream has deleted in the cache of answers, so that a cached answer with its id is a
 * miss. The mark lasts as long as any cached answer.
 */
export function markDeleted(scope: ResponseScope, id: string): void {
  const { responseCache } = scope.platform;
  if (responseCache.settings() !== null) responseCache.write(markOf(scope, id), MARK, MAX_TTL_SECONDS);
}

/**
 * Whether callers can refer to a response by its id. It is stored here, or no request of this gateway has deleted it
 * at its upstream. Throws Unavailable.
 */
export async function isAvailable(scope: ResponseScope, id: string): Promise<boolean> {
  if (isOwnResponseId(id)) return (await findStored(scope, id)) !== null;
  return (await scope.platform.responseCache.read(markOf(scope, id))) === null;
}
