import { createHash, timingSafeEqual } from 'node:crypto';
import type { SignInPlatform } from '../../resolvers/operation/platform.ts';
import { createSignInThrottle } from '../domain/users/sign-in.ts';
import { systemClock } from '../runtime/clock.ts';
import type { StartContext } from './context.ts';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Name and password of the administrator, and the counts of failed sign-ins. */
export function composeSignIns({ settings }: StartContext): SignInPlatform['signIns'] {
  const { username, password, limits } = settings.signIn;
  const wanted = password === null ? null : digestOf(password.reveal());
  return {
    username,
    isPassword: (text) => wanted !== null && timingSafeEqual(wanted, digestOf(text)),
    throttle: createSignInThrottle({ ...limits, countsSources: settings.trustedProxies.length > 0 }, systemClock),
  };
}
