import { InvalidInput } from '../../../src/domain/errors.ts';
import type { RequestBody } from '../../../src/domain/inference/request-validation.ts';
import type { Endpoint } from '../../../src/domain/inference/endpoint.ts';

/** Parameters that simulate failures to test the router. They are not supported. */
const TEST_SWITCHES = [
  'mock_testing_fallbacks',
  'mock_testing_context_fallbacks',
  'mock_testing_content_policy_fallbacks',
] as const;

const isOff = (value: unknown): boolean => value === undefined || value === null || value === false;

/**
 * Throws InvalidInput for unsupported gateway parameters. Ignoring them would make callers believe that they apply.
 */
export function assertSupported(body: RequestBody, endpoint: Endpoint): void {
  const member = TEST_SWITCHES.find((name) => !isOff(body[name]));
  if (member !== undefined)
    throw unsupported(member, { rule: 'test_switch', reason: 'switches for router tests are disabled' }, endpoint);
}

function unsupported(
  member: string,
  { rule, reason }: { readonly rule: string; readonly reason: string },
  { path }: Endpoint,
): InvalidInput {
  const message = `${path}: The parameter '${member}' cannot be honoured: ${reason}.`;
  return new InvalidInput(message, [{ path: ['body', member], rule, message }]);
}
