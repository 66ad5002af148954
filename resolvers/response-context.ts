import { mayRead, visibilityOf } from '../src/domain/caller.ts';
import type { ModelRequest } from '../src/domain/chat/chat.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { itemIn, itemsBefore, itemsOf, referredTo } from '../src/domain/responses/items.ts';
import type { Item, KeptResponse } from '../src/domain/responses/kept-response.ts';
import { isOwnResponseId, responseOfItem } from '../src/domain/responses/response-ids.ts';
import { callerOf } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** A request in which everything stands that it only referred to. */
interface InItsPlace {
  readonly request: ModelRequest;
  /** What it asks itself, without what came before. */
  readonly items: readonly Item[];
  /** The response it goes on from, where that is kept here. */
  readonly previousId: string | null;
}

/**
 * Puts what is kept here into a request that refers to it: the conversation it goes on from, and single items of it. An
 * instruction is the request's own, and is not carried over. Throws InvalidInput for what the caller cannot refer to.
 */
export async function inItsPlace(scope: Scope, request: ModelRequest): Promise<InItsPlace> {
  const { body } = request;
  const asked = itemsOf(body);
  const named = body['previous_response_id'];
  const previous = typeof named === 'string' && isOwnResponseId(named) ? await previousOf(scope, named) : null;
  const items = await withoutReferences(scope, asked);
  const previousId = previous?.id ?? null;
  if (previous === null && items === asked) return { request, items, previousId };
  const before = previous === null ? [] : await beforeOf(scope, previous);
  const changed = { input: [...before, ...items], ...(previous === null ? {} : { previous_response_id: undefined }) };
  const replaced = { ...request.replaced, ...changed };
  return { request: { ...request, body: { ...body, ...changed }, replaced }, items, previousId };
}

/** A response that is kept here; null when there is none that the caller may see. */
export async function findKept(scope: Scope, id: string): Promise<KeptResponse | null> {
  const kept = await scope.platform.responses.keeper.find(id);
  return kept !== null && maySee(scope, kept) ? kept : null;
}

const maySee = (scope: Scope, { owner }: KeptResponse): boolean =>
  !scope.platform.responses.idSecurity || mayRead(visibilityOf(callerOf(scope)), owner);

/** Null for an id that may be an upstream's own, where nobody minds who uses it. */
async function previousOf(scope: Scope, id: string): Promise<KeptResponse | null> {
  const kept = await findKept(scope, id);
  if (kept === null && scope.platform.responses.idSecurity) throw noPrevious(id);
  return kept;
}

async function beforeOf(scope: Scope, previous: KeptResponse): Promise<readonly Item[]> {
  const conversation = await scope.platform.responses.keeper.conversation(previous);
  if (conversation.kind === 'whole') return itemsBefore(conversation.turns);
  const fault =
    conversation.kind === 'broken'
      ? 'goes on from one that is no longer kept'
      : 'ends a conversation that is too long to go on with';
  throw refused('previous_response_id', `The response with id '${previous.id}' ${fault}.`);
}

/** Most responses whose items one request may refer to. */
const MOST_REFERRED = 1_000;

/** What is asked, with items in place of references to what is kept here; the same list where there are none. */
async function withoutReferences(scope: Scope, asked: readonly Item[]): Promise<readonly Item[]> {
  const { keeper, idSecurity } = scope.platform.responses;
  const wanted = new Set(asked.flatMap((item) => responseOfItem(referredTo(item) ?? '') ?? []));
  if (wanted.size === 0) return asked;
  const found = wanted.size > MOST_REFERRED ? null : await keeper.findAll([...wanted]);
  if (found === null) throw refused('input', 'The items that the input refers to are too many, or too large together.');
  const known = new Map(found.filter((one) => maySee(scope, one)).map((one) => [one.id, one]));
  return asked.map((item) => {
    const id = referredTo(item) ?? '';
    const responseId = responseOfItem(id);
    if (responseId === null) return item;
    const response = known.get(responseId);
    const meant = response === undefined ? null : itemIn(response, id);
    if (meant !== null) return meant;
    if (!idSecurity) return item;
    throw refused('input', `Item with id '${id}' not found.`);
  });
}

/** That a request goes on from nothing, or nothing its caller may know of. */
export const noPrevious = (id: string): InvalidInput =>
  refused('previous_response_id', `Previous response with id '${id}' not found.`, 'previous_response_not_found');

const refused = (member: string, message: string, rule = 'reference'): InvalidInput =>
  new InvalidInput(message, [{ path: ['body', member], rule, message }]);
