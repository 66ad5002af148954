import { Unavailable } from '../src/domain/errors.ts';
import { isExpired, type TracingKey } from '../src/domain/lens/tracing-key.ts';
import { UnknownWorker } from '../src/domain/lens/worker.ts';
import { anyKey, anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Address of the built-in trace service, and whether it can store traces now. */
export interface LensService {
  readonly url: string;
  readonly storageReady: boolean;
}

/** The built-in trace service, which is this process. */
export const readLensService = operation({
  name: 'readLensService',
  access: anyKey,
  async run(
    scope: Scope<Pick<LensPlatform, 'publicUrl'> & { readonly stores: Pick<LensPlatform['stores'], 'writable'> }>,
    _input: undefined,
  ): Promise<LensService> {
    const { stores, publicUrl } = scope.platform;
    const storageReady = await stores.writable().then(
      () => true,
      () => false,
    );
    return { url: publicUrl(), storageReady };
  },
});

/** The valid tracing keys. */
export interface IngestionCredentials {
  readonly issuedAt: Date;
  readonly keys: readonly TracingKey[];
}

/**
 * Reads the valid tracing keys for a separate trace service of the operator, which sends its token. Throws Unavailable
 * when no such service is configured, and UnknownWorker for a missing or wrong token.
 */
export const readIngestionCredentials = operation({
  name: 'readIngestionCredentials',
  access: anyone,
  async run({ platform }: Scope<LensPlatform>, token: string | null): Promise<IngestionCredentials> {
    const { lensService, stores, clock } = platform;
    if (lensService === null) throw new Unavailable('Configure the Lens service connection', null);
    if (token === null || !lensService.isToken(token)) throw new UnknownWorker('Invalid Lens service credential');
    const issuedAt = clock.now();
    const keys = await stores.tracingKeys.all({ tokenHash: null });
    return { issuedAt, keys: keys.filter((key) => !isExpired(key, issuedAt)) };
  },
});
