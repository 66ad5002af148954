import type { ModelRequest } from '../../src/domain/chat/chat.ts';
import { InvalidInput } from '../../src/domain/errors.ts';
import { itemIn, itemsBefore, inputItemsOf, referencedId } from '../../src/domain/responses/items.ts';
import type { ResponseItem, StoredResponse } from '../../src/domain/responses/stored-response.ts';
import { isOwnResponseId, responseOfItem } from '../../src/domain/responses/response-ids.ts';
import { callerOf } from './operation.ts';
import { mayUseObject } from './object-owners.ts';
import type { ResponsePlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** A request with its references replaced by the items they refer to. */
interface ResolvedRequest {
  readonly request: ModelRequest;
  /** Own items of the request, without those of previous responses. */
  readonly items: readonly ResponseItem[];
  /** Id of the previous response, when it is stored here and the caller may use it; null otherwise. */
  readonly previousId: string | null;
}

/**
 * Replaces references of a request to responses stored here: to the previous conversation, and to single items.
 * Instructions belong to one request and are not carried over. Throws InvalidInput when the conversation is incomplete
 * or too long, or the items are too many or too large. With `idSecurity`, also throws InvalidInput when a reference
 * does not exist or the caller may not use it.
 */
export async function resolveReferences(
  scope: Scope<ResponsePlatform>,
  request: ModelRequest,
): Promise<ResolvedRequest> {
  const { body } = request;
  const input = inputItemsOf(body);
  const sentId = body['previous_response_id'];
  const previous = typeof sentId === 'string' && isOwnResponseId(sentId) ? await previousOf(scope, sentId) : null;
  const items = await withoutReferences(scope, input);
  const previousId = previous?.id ?? null;
  if (previous === null && items === input) return { request, items, previousId };
  const before = previous === null ? [] : await itemsOfConversation(scope, previous);
  // An undefined member is removed from the body. `replaced` makes the same change in the bytes of the client's body.
  const changed = { input: [...before, ...items], ...(previous === null ? {} : { previous_response_id: undefined }) };
  const replaced = { ...request.replaced, ...changed };
  return { request: { ...request, body: { ...body, ...changed }, replaced }, items, previousId };
}

/** A response that is stored here; null when the caller may see none with this id. */
export async function findStored(scope: Scope<ResponsePlatform>, id: string): Promise<StoredResponse | null> {
  const stored = await scope.platform.responses.queue.find(id);
  return stored !== null && maySee(scope, stored) ? stored : null;
}

const maySee = (scope: Scope<ResponsePlatform>, { owner }: StoredResponse): boolean =>
  !scope.platform.responses.idSecurity || mayUseObject(callerOf(scope), owner);

/**
 * The stored response with an id. With `idSecurity`, throws InvalidInput for an unknown id, and for a response that the
 * caller may not see. Without it, every caller may use every response, and an unknown id returns null.
 */
async function previousOf(scope: Scope<ResponsePlatform>, id: string): Promise<StoredResponse | null> {
  const stored = await findStored(scope, id);
  if (stored === null && scope.platform.responses.idSecurity) throw noPrevious(id);
  return stored;
}

async function itemsOfConversation(
  scope: Scope<ResponsePlatform>,
  previous: StoredResponse,
): Promise<readonly ResponseItem[]> {
  const conversation = await scope.platform.responses.queue.conversation(previous);
  if (conversation.kind === 'whole') return itemsBefore(conversation.turns);
  const fault =
    conversation.kind === 'broken'
      ? 'continues a response that is no longer stored'
      : 'ends a conversation that is too long to continue';
  throw invalidReference('previous_response_id', `The response with id '${previous.id}' ${fault}.`);
}

/** Maximum number of responses whose items one request may refer to. */
const MAX_REFERENCED_RESPONSES = 1_000;

/**
 * The items with references to stored items replaced; the given list when it has no reference. Throws InvalidInput when
 * the referenced responses are too many or too large. With `idSecurity`, also throws it for an item that is not found.
 */
async function withoutReferences(
  scope: Scope<ResponsePlatform>,
  input: readonly ResponseItem[],
): Promise<readonly ResponseItem[]> {
  const { queue, idSecurity } = scope.platform.responses;
  const wanted = new Set(input.flatMap((item) => responseOfItem(referencedId(item) ?? '') ?? []));
  if (wanted.size === 0) return input;
  const found = wanted.size > MAX_REFERENCED_RESPONSES ? null : await queue.findAll([...wanted]);
  if (found === null)
    throw invalidReference('input', 'The items that the input refers to are too many, or too large together.');
  const known = new Map(found.filter((one) => maySee(scope, one)).map((one) => [one.id, one]));
  return input.map((item) => {
    const id = referencedId(item) ?? '';
    const responseId = responseOfItem(id);
    if (responseId === null) return item;
    const response = known.get(responseId);
    const referred = response === undefined ? null : itemIn(response, id);
    if (referred !== null) return referred;
    if (!idSecurity) return item;
    throw invalidReference('input', `Item with id '${id}' not found.`);
  });
}

/** Error for a previous response that does not exist or that the caller may not see. */
export const noPrevious = (id: string): InvalidInput =>
  invalidReference(
    'previous_response_id',
    `Previous response with id '${id}' not found.`,
    'previous_response_not_found',
  );

const invalidReference = (member: string, message: string, rule = 'reference'): InvalidInput =>
  new InvalidInput(message, [{ path: ['body', member], rule, message }]);
