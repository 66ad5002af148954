import { InvalidInput } from '../../domain/errors.ts';

/**
 * Error for an invalid request of the Interactions API. `member` is the path of the member, with dots. Every fault has
 * the rule `unsupported`, because answers of this API do not contain the rule.
 */
export function invalidInteraction(member: string, message: string): InvalidInput {
  const whole = `/interactions: ${member}: ${message}.`;
  return new InvalidInput(whole, [{ path: ['body', ...member.split('.')], rule: 'unsupported', message: whole }]);
}
