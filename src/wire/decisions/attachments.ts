import { isJsonObject } from '../../domain/json-object.ts';
import type { Attachments, DecisionFormat, Media, Members } from '../../domain/decisions/decision.ts';
import { InvalidInput } from '../../domain/errors.ts';
import { type Fields } from '../json/fields.ts';
import { invalidDecision } from './faults.ts';

/** Maximum numbers of audio and video clips of a request. */
const MAX_AUDIO = 4;
const MAX_VIDEOS = 2;
/** Maximum UTF-8 bytes of an asset's name. */
const MAX_NAME_BYTES = 1024;

const IMAGE = /^(?:data:image\/[^;,\s]+(?:;[^;,\s]+)*;base64,[A-Za-z0-9+/_-]+={0,2}|https?:\/\/\S+)$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ASSET_FORMATS = ['png', 'jpg', 'jpeg'];

/** Whether an image is a base64 data URL or an http(s) address. */
export const isImageAddress = (url: string): boolean => IMAGE.test(url);

/**
 * Reads the members that only some upstreams support. Throws InvalidInput for invalid members. With `drop`, invalid
 * images, assets and safety identifiers are omitted instead.
 */
export function readAttachments(body: Fields, format: DecisionFormat, drop: boolean): Attachments {
  const isNamedMap = format === 'named-map';
  if (!isNamedMap && !drop && (body['images'] ?? null) !== null)
    throw new InvalidInput(
      'litellm.BadRequestError: images belongs to the named-map format; beside an input, images are input_image parts.',
    );
  return {
    safetyIdentifier: readIdentifier(body['safety_identifier'], drop),
    images: isNamedMap ? readImages(body['images'], drop) : [],
    assets: isNamedMap ? readAssets(body['assets'], drop) : [],
    audio: readClips(body['audio'], 'audio', MAX_AUDIO),
    videos: readClips(body['videos'], 'videos', MAX_VIDEOS),
  };
}

function readIdentifier(value: unknown, drop: boolean): string | null {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || drop) return null;
  throw invalidDecision('safety_identifier', 'it must be a string');
}

function readImages(value: unknown, drop: boolean): readonly Media[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    if (drop) return [];
    throw invalidDecision('images', 'it must be an array');
  }
  return value.flatMap((one: unknown, index) => {
    const image = typeof one === 'string' && isImageAddress(one) ? one : mediaOf(one, 'image');
    if (image !== null) return [image];
    if (drop) return [];
    throw invalidDecision(
      `images.${index}`,
      'it must be a data URL of an image in base64, an http(s) address, or an object with content_type and base64',
    );
  });
}

/** Reads an object with `content_type` and `base64`. Null for any other value. */
function mediaOf(value: unknown, kind: 'image' | 'audio' | 'video'): Media | null {
  if (!isJsonObject(value)) return null;
  const { content_type: contentType, base64, ...others } = value;
  if (typeof contentType !== 'string' || typeof base64 !== 'string' || base64 === '') return null;
  const isKind = contentType.startsWith(`${kind}/`) && /^[^;,\s]+$/.test(contentType);
  return isKind && Object.keys(others).length === 0 ? { contentType, base64 } : null;
}

function readClips(value: unknown, member: 'audio' | 'videos', max: number): readonly Media[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidDecision(member, 'it must be an array');
  if (value.length > max) throw invalidDecision(member, `it must have at most ${max} items, not ${value.length}`);
  const kind = member === 'audio' ? 'audio' : 'video';
  return value.map((one: unknown, index) => {
    const clip = typeof one === 'string' && isClip(one, kind) ? one : mediaOf(one, kind);
    if (clip !== null) return clip;
    throw invalidDecision(
      `${member}.${index}`,
      `it must be a data URL data:${kind}/…;base64,… or an object with content_type and base64`,
    );
  });
}

const isClip = (url: string, kind: string): boolean => {
  const [head = '', content = ''] = url.split(';base64,', 2);
  return head.startsWith(`data:${kind}/`) && /^data:[^;,\s]+\/[^;,\s]+$/.test(head) && content !== '';
};

function readAssets(value: unknown, drop: boolean): readonly (readonly [string, Members])[] {
  if (value === undefined || value === null) return [];
  if (!isJsonObject(value)) {
    if (drop) return [];
    throw invalidDecision('assets', 'it must be an object');
  }
  return Object.entries(value).flatMap(([name, asset]): [string, Members][] => {
    if (name.trim() !== '' && Buffer.byteLength(name) <= MAX_NAME_BYTES && isAsset(asset)) return [[name, asset]];
    if (drop) return [];
    throw invalidDecision(
      `assets.${name.slice(0, 100)}`,
      `it must be an image with a format of ${ASSET_FORMATS.join(', ')} and data_base64, under a name of at most ${MAX_NAME_BYTES} bytes`,
    );
  });
}

function isAsset(value: unknown): value is Members {
  if (!isJsonObject(value)) return false;
  const { type = null, format, data_base64: content, ...others } = value;
  if (Object.keys(others).length > 0 || (type !== null && type !== 'image')) return false;
  return ASSET_FORMATS.some((known) => known === format) && typeof content === 'string' && BASE64.test(content);
}
