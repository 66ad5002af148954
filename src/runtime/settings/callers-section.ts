import { z } from 'zod';
import { allowedHostFault } from '../network/caller-addresses.ts';

/** Members of `general_settings`. */
export const callerFields = {
  allow_client_side_credentials: z.boolean().optional(),
  expose_api_base_header: z.boolean().optional(),
};

/** Members of `litellm_settings`. */
export const callerSharedFields = {
  user_url_allowed_hosts: z
    .array(
      z.string().superRefine((text, context) => {
        const message = allowedHostFault(text);
        if (message !== null) context.addIssue({ code: 'custom', message });
      }),
    )
    .optional(),
};

/** What the file sets; a member is undefined where the file is silent. */
export interface CallerSection {
  readonly general?: z.infer<z.ZodObject<typeof callerFields>> | undefined;
  readonly shared?: z.infer<z.ZodObject<typeof callerSharedFields>> | undefined;
}
