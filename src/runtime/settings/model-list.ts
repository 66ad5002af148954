import { z } from 'zod';
import type { Deployment } from '../../domain/chat/provider.ts';
import { rateFrom } from '../../domain/money.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { withIds } from './deployment-ids.ts';
import { addressFault, modelEntry, toDeployment } from './deployments.ts';

const MODELS = z.object({ model_list: z.array(modelEntry).nullish() });

/** The deployments of `model_list`; empty when one is wrong, with a fault for each. */
export function readModels(
  document: ConfigDocument,
  about: {
    readonly dropParams: boolean;
    readonly env: NodeJS.ProcessEnv;
    readonly fault: (fault: ConfigFault) => void;
  },
): readonly Deployment[] {
  const refuse = (path: Path, message: string): void => {
    const key = path.join('.');
    // A reference to an unset variable is reported already.
    if (!document.faults.some((known) => known.key === key)) about.fault({ ...document.placeOf(path), key, message });
  };
  const parsed = MODELS.safeParse(document.content);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      refuse(
        path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
        message,
      );
    return [];
  }
  const deployments = withIds((parsed.data.model_list ?? []).map((entry) => toDeployment(entry, about)));
  for (const [index, { provider, apiBase, priceOverrides, credentialName }] of deployments.entries()) {
    for (const [name, price] of Object.entries(priceOverrides))
      if (!isPrice(price)) refuse(['model_list', index, 'litellm_params', name], 'is not a price in USD');
    // A credential may have the address.
    const fault = credentialName === undefined ? addressFault(provider, apiBase) : null;
    if (fault !== null) refuse(['model_list', index, 'litellm_params', 'model'], fault);
  }
  return deployments;
}

/** Lists of tiers are not checked. */
export const isPrice = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'string' ? (rateFrom(value) ?? -1n) >= 0n : true;
