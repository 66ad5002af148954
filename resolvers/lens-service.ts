import { Unavailable } from '../src/domain/errors.ts';
import { anyKey } from './operation/access.ts';
import { lensReader } from './operation/lens-access.ts';
import { operation } from './operation/operation.ts';
import type { LensPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Where traces are sent to, and whether they can be stored now. */
export interface LensService {
  readonly url: string;
  readonly storageReady: boolean;
}

/** The trace service, which is this process. */
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

/** Credentials for an external trace service. There is none. Throws Unavailable. */
export const readIngestionCredentials = operation({
  name: 'readIngestionCredentials',
  access: lensReader,
  run(_scope: Scope, _input: undefined): never {
    throw new Unavailable('Configure the Lens service connection', null);
  },
});
