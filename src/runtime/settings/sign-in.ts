import type { Secret } from '../../domain/secret.ts';
import type { SignInLimits } from '../../domain/users/sign-in.ts';
import type { SourceLimits } from '../network/source-limits.ts';
import type { SettingValues } from './table.ts';

/** Sign-in with name and password. */
export interface SignInSettings {
  /** Name of the administrator. */
  readonly username: string;
  /** Password of the administrator; null: only the admin key signs in. */
  readonly password: Secret | null;
  /** Address of another server whose users sign in at this one; null for none. */
  readonly controlPlaneUrl: string | null;
  /** Lifetime of command-line sessions, in hours. */
  readonly commandLineHours: number;
  readonly limits: Omit<SignInLimits, 'countsSources' | 'limitOf'>;
  /** Other limits, by client network. */
  readonly limitsBySource: SourceLimits;
}

export const signInOf = (values: SettingValues): SignInSettings => ({
  username: values.signInName,
  password: values.signInPassword,
  controlPlaneUrl: values.controlPlaneUrl,
  commandLineHours: values.commandLineHours,
  limits: {
    perSource: values.unlimitedSignIns ? 0 : values.failedSignIns,
    windowSeconds: values.failedSignInWindowSeconds,
    blockSeconds: values.failedSignInBlockSeconds,
  },
  limitsBySource: values.failedSignInsBySource,
});
