import { asBuffer } from '../json/members.ts';

const MEMBER = Buffer.from('"container_id"');

/** Whether JSON text may have a member `container_id`. Much faster than a search of the parsed value. */
export const mayNameContainer = (json: Uint8Array): boolean => asBuffer(json).includes(MEMBER);
