import { InvalidInput } from '../../src/domain/errors.ts';
import { mistyped, type RequestBody } from '../../src/domain/inference/askable.ts';
import type { Endpoint } from '../../src/domain/inference/endpoint.ts';

/** Members that nobody can be granted, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  mock_testing_fallbacks: 'it is a switch for tests of a router, and is not taken here',
  mock_testing_context_fallbacks: 'it is a switch for tests of a router, and is not taken here',
  mock_testing_content_policy_fallbacks: 'it is a switch for tests of a router, and is not taken here',
};

/** Switches of which `false` asks for nothing. */
const asksNothing = (value: unknown): boolean => value === undefined || value === null || value === false;

/**
 * Refuses what speaks to the gateway and cannot be done: to leave it out in silence would let a caller believe that it was.
 * Throws InvalidInput.
 */
export function assertHonoured(body: RequestBody, endpoint: Endpoint): void {
  for (const member in REFUSED) if (!asksNothing(body[member])) throw notTaken(member, REFUSED[member] ?? '', endpoint);
  const guardrails = body['guardrails'] ?? [];
  if (!Array.isArray(guardrails)) throw mistyped('guardrails', 'an array', endpoint);
  if (guardrails.length > 0)
    throw notTaken('guardrails', 'none of that name are configured, so nothing would guard this call', endpoint);
}

function notTaken(member: string, why: string, { path }: Endpoint): InvalidInput {
  const message = `${path}: The parameter '${member}' cannot be honoured: ${why}.`;
  return new InvalidInput(message, [{ path: ['body', member], rule: 'unsupported', message }]);
}
