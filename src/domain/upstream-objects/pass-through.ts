import type { ModelRequest } from '../chat/chat.ts';
import type { Form } from '../inference/form.ts';
import type { ObjectAction } from './object-action.ts';

/** What a call about something kept carries; `set` are texts that replace, null leaves out. */
export type PassBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly bytes: Uint8Array; readonly set: Readonly<Record<string, string | null>> }
  | {
      readonly kind: 'form';
      readonly form: Form;
      /** Fields that speak to the gateway alone. */
      readonly without: readonly string[];
      /**
       * Gives every model that the lines of the file name the upstream's own name; throws what the caller is told
       * when one may not be asked. Absent where the file is no list of calls.
       */
      readonly rename?: (model: string) => string;
    };

/** A call about something that an upstream keeps: forwarded in its own words, still admitted and recorded. */
export interface PassThrough {
  readonly action: ObjectAction;
  /** The public name by which its deployment was chosen. */
  readonly model: string;
  /** Path under the upstream's base address, with the upstream's own ids. */
  readonly path: `/${string}`;
  readonly body: PassBody;
  readonly callId: ModelRequest['callId'];
  readonly parent: ModelRequest['parent'];
  readonly owner?: ModelRequest['owner'];
}
