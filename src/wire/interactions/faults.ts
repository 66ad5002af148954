import { InvalidInput } from '../../domain/errors.ts';

/** Error of a request of the Interactions API. `member` is the place of the fault, with dots. */
export function refuse(member: string, message: string): InvalidInput {
  const whole = `/interactions: ${member}: ${message}.`;
  return new InvalidInput(whole, [{ path: ['body', ...member.split('.')], rule: 'unsupported', message: whole }]);
}
