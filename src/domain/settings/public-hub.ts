import { InvalidInput } from '../errors.ts';
import { type JsonObject, isJsonObject } from '../json-object.ts';
import { type DeclaredConfig, settingViewOf, type StoredSections } from './ownership.ts';

/** Section of the settings of the public list of models. */
export const HUB_SECTION = 'litellm_settings';
/** Name of the list of public models. */
export const PUBLIC_MODELS = 'public_model_groups';
/** Name of the map of links. */
export const HUB_LINKS = 'public_model_groups_links';

const MAX_LINKS = 100;
const MAX_TITLE = 256;
const MAX_URL = 2_048;

/** Names of the models that everyone may see; empty for none. */
export function publicModelsIn(config: DeclaredConfig, stored: StoredSections): readonly string[] {
  const { effectiveValue } = settingViewOf(config, stored, HUB_SECTION, PUBLIC_MODELS);
  return Array.isArray(effectiveValue) ? effectiveValue.filter((name) => typeof name === 'string') : [];
}

/** Links of the public list of models, by title: an address, or an object with `url`. */
export function hubLinksIn(config: DeclaredConfig, stored: StoredSections): JsonObject {
  const { effectiveValue } = settingViewOf(config, stored, HUB_SECTION, HUB_LINKS);
  return isJsonObject(effectiveValue) ? effectiveValue : {};
}

const isWebAddress = (url: unknown): boolean =>
  typeof url === 'string' && url.length <= MAX_URL && /^https?:\/\//i.test(url) && URL.canParse(url);

/** Throws InvalidInput for links that a page must not show: an address that is not of the web could run code. */
export function assertLinks(links: JsonObject): void {
  const entries = Object.entries(links);
  if (entries.length > MAX_LINKS) throw new InvalidInput(`useful_links can have at most ${MAX_LINKS} links`);
  for (const [title, link] of entries) {
    if (title === '' || title.length > MAX_TITLE)
      throw new InvalidInput(`A title of useful_links must have 1 to ${MAX_TITLE} characters`);
    if (!isWebAddress(isJsonObject(link) ? link['url'] : link))
      throw new InvalidInput(`useful_links: '${title}' must be an http:// or https:// address, or an object with url`);
  }
}
