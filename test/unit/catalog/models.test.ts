import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import {
  capabilitiesOf,
  cheapestOf,
  findModels,
  joinModels,
  maxContextWindowOf,
  type ModelFilters,
  modesOf,
  providersOf,
} from '../../../src/domain/catalog/models.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';

const entry = (id: string, provider: string | null, row: Record<string, unknown> = {}): CatalogEntry => ({
  id,
  provider,
  mode: typeof row['mode'] === 'string' ? row['mode'] : 'chat',
  row,
});

const ENTRIES = [
  entry('gpt-4o', 'openai', {
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1e-5,
    max_input_tokens: 128_000,
    supports_vision: true,
    supports_pdf_input: true,
  }),
  entry('text-embedding-3', 'openai', { mode: 'embedding' }),
  entry('azure/eu/gpt-4o', 'azure', {
    input_cost_per_token: 2.75e-6,
    output_cost_per_token: 9e-6,
    supports_vision: true,
  }),
  entry('github_copilot/gpt-4o', 'github_copilot', {
    input_cost_per_token: 0,
    output_cost_per_token: 0,
    max_input_tokens: 64_000,
    supports_vision: true,
    mode: 'responses',
  }),
  entry('azure/gpt-4o', 'azure', { input_cost_per_token: 2.5e-6, supports_vision: true }),
];
const models = joinModels(ENTRIES);
const [gpt4o] = models.all;
if (!gpt4o) throw new Error('There is no model.');

describe('joining entries to models', () => {
  it('orders models by their first offer, and offers as in the catalog', () => {
    expect(models.all.map(({ name, offers }) => [name, offers.map(({ id }) => id)])).toEqual([
      ['gpt-4o', ['gpt-4o', 'azure/eu/gpt-4o', 'github_copilot/gpt-4o', 'azure/gpt-4o']],
      ['text-embedding-3', ['text-embedding-3']],
    ]);
  });
  it('finds a model by name, by any id with this logical name, and by an entry', () => {
    expect([models.find('gpt-4o'), models.find('azure/eu/GPT-4o'), models.find('openrouter/openai/gpt-4o')]).toEqual([
      gpt4o,
      gpt4o,
      gpt4o,
    ]);
    expect([models.find('gpt-4'), models.find('')]).toEqual([null, null]);
    expect([models.of(ENTRIES[3] as CatalogEntry), models.of(entry('gone', null))]).toEqual([gpt4o, null]);
  });
  it('has the providers, modes, capabilities and largest context window of all offers', () => {
    expect({
      providers: providersOf(gpt4o),
      modes: modesOf(gpt4o),
      all: capabilitiesOf(gpt4o, 'all'),
      any: capabilitiesOf(gpt4o, 'any'),
      window: maxContextWindowOf(gpt4o),
    }).toEqual({
      providers: ['openai', 'azure', 'github_copilot'],
      modes: ['chat', 'responses'],
      all: ['supports_vision'],
      any: ['supports_pdf_input', 'supports_vision'],
      window: 128_000,
    });
  });
  it('finds the cheapest offer with a price above zero, and the first of several equally cheap offers', () => {
    expect([cheapestOf(gpt4o, 'input')?.id, cheapestOf(gpt4o, 'output')?.id]).toEqual(['gpt-4o', 'azure/eu/gpt-4o']);
    const embedding = models.find('text-embedding-3');
    expect(embedding && [cheapestOf(embedding, 'input'), maxContextWindowOf(embedding)]).toEqual([null, null]);
  });
});

describe('finding models', () => {
  const noFilters: ModelFilters = { search: null, provider: null, mode: null, minOffers: null };
  it.each([
    [{}, ['gpt-4o', 'text-embedding-3']],
    [{ search: 'GPT' }, ['gpt-4o']],
    [{ provider: 'Azure' }, ['gpt-4o']],
    [{ mode: 'embedding' }, ['text-embedding-3']],
    [{ mode: 'responses', provider: 'openai' }, ['gpt-4o']],
    [{ minOffers: 4 }, ['gpt-4o']],
    [{ minOffers: 5 }, []],
    [{ provider: '' }, []],
  ])('%j finds %j', (filters, names) => {
    expect(findModels(models.all, { ...noFilters, ...filters }).map(({ name }) => name)).toEqual(names);
  });
});

describe('the models of the built-in catalog', () => {
  const { entries } = loadEmbeddedSnapshot();
  const builtIn = joinModels(entries);

  it('contain each entry exactly once', () => {
    const offered = builtIn.all.flatMap(({ offers }) => offers);
    expect(offered.length).toBe(entries.length);
    expect(new Set(offered)).toEqual(new Set(entries));
    expect(entries.filter((entryOfCatalog) => !builtIn.of(entryOfCatalog)?.offers.includes(entryOfCatalog))).toEqual(
      [],
    );
  });

  it('have several offers for more than a third of all models', () => {
    const joined = builtIn.all.filter(({ offers }) => offers.length > 1);
    expect(builtIn.all.length).toBeLessThan(entries.length * 0.45);
    expect(joined.length).toBeGreaterThan(builtIn.all.length / 3);
  });

  it.each([
    ['gpt-4o', 9, 7],
    ['gpt-oss-120b', 30, 25],
    ['gpt-image-1', 20, 3],
    ['claude-sonnet-4.5', 10, 9],
    ['claude-sonnet-4.5-20250929', 12, 4],
    ['llama-3.3-70b-instruct', 20, 15],
    ['deepseek-v3.2', 20, 10],
  ])('join %s from at least %i offers of at least %i providers', (name, offers, providers) => {
    const model = builtIn.find(name);
    expect(model?.offers.length).toBeGreaterThanOrEqual(offers);
    expect(model ? providersOf(model).length : 0).toBeGreaterThanOrEqual(providers);
  });

  it('join no offers of different modes, except where hosts name the mode of one model differently', () => {
    const kindOf = (mode: string): string =>
      ({ chat: 'text', completion: 'text', responses: 'text', image_edit: 'image_generation' })[mode] ?? mode;
    const mixed = builtIn.all.filter((model) => new Set(modesOf(model).map(kindOf)).size > 1);
    expect(mixed.map((model) => `${model.name}: ${modesOf(model).join(', ')}`)).toEqual([
      'embed-v4.0: embedding, chat',
      'gemini-3.1-flash-image: chat, image_generation',
      'gemini-3-pro-image: chat, image_generation',
      'gemini-3.1-flash-lite-image: image_generation, chat',
      'lyria-3-clip-preview: chat, audio_speech',
      'lyria-3-pro-preview: chat, audio_speech',
      'mistral-embed: embedding, chat',
      'codestral-embed: embedding, chat',
      'deepseek-ocr: ocr, chat',
      'rune: evaluation, decisions',
    ]);
  });
});
