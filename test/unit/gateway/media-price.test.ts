import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import { modelOfVariant, variantIds } from '../../../src/domain/catalog/image-prices.ts';
import type { Usage } from '../../../src/domain/chat/chat.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import type { BilledQuantity } from '../../../src/domain/inference/billed-quantity.ts';
import { usdText } from '../../../src/domain/money.ts';
import { createPricer } from '../../../src/gateway/accounting/price.ts';
import { aDeployment } from '../../support/chat.ts';

type Row = Readonly<Record<string, unknown>>;

/** Rows in the format of the price map. */
const ROWS: Readonly<Record<string, Row>> = {
  'dall-e-2': { input_cost_per_image: 0.02 },
  '256-x-256/dall-e-2': { input_cost_per_pixel: 2.4414e-7, output_cost_per_pixel: 0 },
  '1024-x-1024/dall-e-2': { input_cost_per_pixel: 1.9e-8, output_cost_per_pixel: 0 },
  'dall-e-3': { input_cost_per_image: 0.04 },
  'standard/1024-x-1024/dall-e-3': { input_cost_per_pixel: 3.81469e-8, output_cost_per_pixel: 0 },
  'hd/1024-x-1792/dall-e-3': { input_cost_per_pixel: 6.539e-8, output_cost_per_pixel: 0 },
  'azure/hd/1024-x-1024/dall-e-3': { input_cost_per_pixel: 7.629e-8, output_cost_per_token: 0 },
  'azure/standard/1024-x-1024/dall-e-3': { input_cost_per_pixel: 4e-8, output_cost_per_token: 0 },
  'by-size': { 'output_cost_per_image_0.5K': 0.06, output_cost_per_image_2K: 0.12, output_cost_per_image_4K: 0.16 },
  'by-size-or-usual': { output_cost_per_image: 0.08, output_cost_per_image_1K: 0.08, output_cost_per_image_4K: 0.16 },
  'by-side': { output_cost_per_image_512: 0.25, output_cost_per_image_1024: 0.3 },
  'by-size-free-tokens': { input_cost_per_token: 0, output_cost_per_token: 0, output_cost_per_image_2K: 0.12 },
  'by-pixel': { input_cost_per_pixel: 1e-9, output_cost_per_pixel: 0 },
  'by-image-token': { output_cost_per_image: 0.039, output_cost_per_image_token: 3e-5 },
  'xai/drawing': { input_cost_per_image: 0.06 },
  'gpt-image-1': { input_cost_per_token: 5e-6, input_cost_per_image_token: 1e-5, output_cost_per_image_token: 4e-5 },
  'high/1024-x-1024/gpt-image-1': { input_cost_per_image: 0.167, input_cost_per_pixel: 1.59263611e-7 },
  titan: { input_cost_per_image: 0, output_cost_per_image: 0.008 },
  'gemini-image': {
    input_cost_per_image: 0.0011,
    input_cost_per_token: 2e-6,
    output_cost_per_image: 0.134,
    output_cost_per_image_token: 1.2e-4,
    output_cost_per_token: 1.2e-5,
  },
  'whisper-1': { input_cost_per_second: 0.0001, output_cost_per_second: 0.0001 },
  'groq/whisper-large-v3': { input_cost_per_second: 3.083e-5, output_cost_per_second: 0 },
  transcribe: { input_cost_per_token: 1.25e-6, input_cost_per_audio_token: 2.5e-6, output_cost_per_token: 5e-6 },
  'out-second': { output_cost_per_second: 0.5 },
  video: { output_cost_per_second: 0.05, output_cost_per_second_720p: 0.07 },
  'soniox/stt': { input_cost_per_second: 0, output_cost_per_second: 2.77778e-5 },
};

const entries: readonly CatalogEntry[] = [
  ...Object.entries(ROWS).map(([id, row]) => ({ id, provider: null, mode: null, row })),
  {
    id: 'low/1024-x-1024/drawing',
    provider: 'xai',
    mode: null,
    row: { input_cost_per_image: 0.04, litellm_provider: 'xai' },
  },
];
const CATALOG: CatalogSnapshot = {
  id: 'test',
  takenAt: new Date(0),
  source: 'embedded',
  entries,
  find: (id) => entries.find((entry) => entry.id === id) ?? null,
};

function cost(
  model: string,
  used: { usage?: Partial<Usage>; measured?: BilledQuantity },
  overrides: Partial<Deployment> = {},
) {
  const usage = used.usage && {
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    ...used.usage,
  };
  const measured = used.measured === undefined ? {} : { measured: used.measured };
  const deployment = aDeployment({ upstreamModel: model, modelGroup: 'public', ...overrides });
  const priced = createPricer(() => CATALOG)(deployment, { usage: usage ?? null, ...measured });
  return priced === null ? null : usdText(priced);
}

const images = (count: number, size: string | null = null, quality: string | null = null): BilledQuantity => ({
  unit: 'image',
  count,
  size,
  quality,
});

describe('images', () => {
  // Most prices by size are per pixel: two images of 256 x 256 cost 2 x 65,536 x 2.4414e-7.
  it.each([
    ['without a size, at the price of the model', 'dall-e-2', images(3), '0.06'],
    ['of a size, at the price of the size', 'dall-e-2', images(2, '256x256'), '0.03199991808'],
    ['of a size and the standard quality', 'dall-e-2', images(1, '1024x1024', 'standard'), '0.019922944'],
    ['of a size, where only the standard quality has a price', 'dall-e-3', images(1, '1024x1024'), '0.039999923814'],
    ['of a better quality', 'dall-e-3', images(1, '1024x1792', 'hd'), '0.11999117312'],
    ['of a size without a price', 'dall-e-3', images(1, '512x512'), null],
    ['of a quality without a price', 'dall-e-2', images(1, '1024x1024', 'hd'), null],
    ['of a size that the model chose', 'dall-e-3', images(1, 'auto', 'auto'), null],
    ['per image, where the map has the price per pixel, too', 'gpt-image-1', images(2, '1024x1024', 'high'), '0.334'],
    ['without tokens, of a model that is billed by tokens', 'gpt-image-1', images(1), null],
    ['of a model without sizes, for any requested size', 'titan', images(4, '2048x2048', 'auto'), '0.032'],
    ['at the price of output, where input has one as well', 'gemini-image', images(1), '0.134'],
    ['of an unknown model', 'unknown', images(1, '1024x1024'), null],
    ['of a count of zero', 'titan', images(0), '0'],
  ])('have the expected cost: %s', (_what, model, measured, expected) => {
    expect(cost(model, { measured })).toBe(expected);
  });

  it('have the price of the provider by image size, also where the base model has a provider prefix', () => {
    const hd = images(1, '1024x1024', 'hd');
    const azure = { provider: 'azure' };
    const withBaseModel = { ...azure, baseModel: 'azure/dall-e-3' };
    expect(cost('dall-e-3', { measured: hd }, azure)).toBe('0.07999586304');
    expect(cost('my-deployment', { measured: hd }, withBaseModel)).toBe('0.07999586304');
    expect(cost('my-deployment', { measured: images(2, '1024x1024') }, withBaseModel)).toBe('0.08388608');
    expect(cost('my-deployment', { measured: images(1, '512x512') }, withBaseModel)).toBeNull();
  });

  it('without a size have the price of 1024 x 1024 pixels, where a model has prices by size only', () => {
    const withBaseModel = { provider: 'azure', baseModel: 'azure/dall-e-3' };
    expect(cost('my-deployment', { measured: images(1) }, withBaseModel)).toBe('0.04194304');
    expect(cost('my-deployment', { measured: images(1, null, 'hd') }, withBaseModel)).toBe('0.07999586304');
    expect(cost('by-pixel', { measured: images(3) })).toBe('0.003145728');
    const sizes = ['auto', '1.5x3', '-1024x1024', '1e400x1', '1024x1024x2', '0x5', '0xffx1'];
    expect(sizes.map((size) => cost('by-pixel', { measured: images(1, size) }))).toEqual(sizes.map(() => null));
  });

  it('have the price of a quality that has no host in the map, where its row names the provider', () => {
    const low = images(1, '1024x1024', 'low');
    expect(cost('drawing', { measured: low }, { provider: 'xai' })).toBe('0.04');
    expect(cost('drawing', { measured: images(1, '1024x1024', 'high') }, { provider: 'xai' })).toBe('0.06');
    expect(cost('dall-e-2', { measured: images(1, '256x256') }, { provider: 'aiml' })).toBe('0.01599995904');
  });

  it.each([
    ['by-size', '2K', '0.12'],
    ['by-size', '2k', '0.12'],
    ['by-size', '0.5K', '0.06'],
    ['by-size', '512x512', '0.06'],
    // A wide image of 2K.
    ['by-size', '2752x1536', '0.12'],
    ['by-size', '4096x4096', '0.16'],
    ['by-size', 'auto', null],
    // The default of 1,024 pixels is as near to 0.5K as to 2K: the larger applies.
    ['by-size', null, '0.12'],
    ['by-size-or-usual', '4K', '0.16'],
    ['by-size-or-usual', '4096x4096', '0.16'],
    ['by-size-or-usual', null, '0.08'],
    ['by-size-or-usual', 'auto', '0.08'],
    ['by-side', '512', '0.25'],
    ['by-side', '1024x1024', '0.3'],
    ['by-size-free-tokens', '2K', '0.12'],
    ['by-image-token', 'token', '0.039'],
  ])('of %s and the size %s have the price of the key with this size: %s', (model, size, expected) => {
    const usage = { inputTokens: 10 };
    expect(cost(model, { measured: images(1, size) })).toBe(expected);
    expect(cost(model, { usage, measured: images(1, size) })).toBe(expected);
  });

  it('have the configured prices of sizes, beside the other prices of the map', () => {
    const priceOverrides = { output_cost_per_image_4K: 0.5 };
    const priced = (size: string | null, model = 'by-size-or-usual') =>
      cost(model, { measured: images(1, size) }, { priceOverrides });
    expect([priced('4K'), priced('1K'), priced(null), priced('2K', 'unknown')]).toEqual(['0.5', '0.08', '0.08', '0.5']);
    // A catalog price of all sizes applies to sizes that no configured price is near to.
    expect(priced('2752x1536', 'xai/drawing')).toBe('0.06');
    // A configured price of any size replaces all prices of the map.
    expect(cost('by-size', { measured: images(1, '4K') }, { priceOverrides: { output_cost_per_image: 0.7 } })).toBe(
      '0.7',
    );
  });

  it.each([
    ['1024x1024', '0.04'],
    ['1280x1280', '0.04'],
    ['1536x1536', '0.08'],
    ['2752x1536', '0.08'],
    ['4096x4096', '0.04'],
    ['auto', '0.04'],
    [null, '0.04'],
  ])('of the size %s have the usual price where no price of a size is near: %s', (size, expected) => {
    for (const usual of [{ output_cost_per_image: 0.04 }, { input_cost_per_image: 0.04, output_cost_per_image: 0 }]) {
      const priceOverrides = { ...usual, output_cost_per_image_2048x2048: 0.08 };
      expect(cost('unknown', { measured: images(1, size) }, { priceOverrides })).toBe(expected);
    }
  });

  it('of a size that no price is near to have the price per pixel, or of the nearest size where it is the only one', () => {
    const square = { measured: images(1, '1024x1024') };
    const bySize = { output_cost_per_image_4K: 0.5 };
    expect(cost('unknown', square, { priceOverrides: { ...bySize, input_cost_per_pixel: 1e-9 } })).toBe('0.001048576');
    expect(cost('unknown', square, { priceOverrides: { ...bySize, output_cost_per_image: 0 } })).toBe('0.5');
    expect(cost('unknown', square, { priceOverrides: bySize })).toBe('0.5');
  });

  it('have the configured price per image or, with a size, per pixel', () => {
    const measured = images(2, '1x1', 'odd');
    expect(cost('dall-e-3', { measured }, { priceOverrides: { output_cost_per_image: 0.5 } })).toBe('1');
    expect(cost('dall-e-3', { measured }, { priceOverrides: { input_cost_per_pixel: 0.25 } })).toBe('0.5');
    // A configured image price replaces all image prices of the map, also the price per image.
    const perPixel = { priceOverrides: { input_cost_per_pixel: 0.25 } };
    expect(cost('dall-e-3', { measured: images(1) }, perPixel)).toBe('262144');
    expect(cost('dall-e-3', { measured: images(1, 'auto') }, perPixel)).toBeNull();
  });

  it('are billed by tokens where the usage counts their tokens', () => {
    const usage = {
      inputTokens: 60,
      outputTokens: 1000,
      image: { inputTokens: 50, outputTokens: 1000, cacheReadTokens: 0 },
    };
    // Text input, image input and image output: 10 x 5e-6 + 50 x 1e-5 + 1,000 x 4e-5.
    expect(cost('gpt-image-1', { usage, measured: images(1, '1024x1024', 'high') })).toBe('0.04055');
    // All input at the price of text, and 100 tokens of text output: 60 x 2e-6 + 1,000 x 1.2e-4 + 100 x 1.2e-5.
    expect(cost('gemini-image', { usage: { ...usage, outputTokens: 1100 }, measured: images(1) })).toBe('0.12132');
    // The model has no price for the 100 tokens of text output.
    expect(cost('gpt-image-1', { usage: { ...usage, outputTokens: 1100 } })).toBeNull();
    const cached = { ...usage, cacheReadTokens: 30, image: { ...usage.image, cacheReadTokens: 30 } };
    // A configured token price replaces only the same price of the map.
    const cachedPrice = { priceOverrides: { cache_read_input_image_token_cost: 2.5e-6 } };
    // 10 x 5e-6 + 20 x 1e-5 + 30 x 2.5e-6 + 1,000 x 4e-5.
    expect(cost('gpt-image-1', { usage: cached }, cachedPrice)).toBe('0.040325');
    // The model has no price for tokens, so the price of an image applies.
    expect(cost('dall-e-2', { usage, measured: images(1) })).toBe('0.02');
  });
});

describe('seconds of audio', () => {
  const seconds = (count: number): BilledQuantity => ({ unit: 'second', count });

  it.each([
    ['once, where input and output have the same price', 'whisper-1', 12, '0.0012'],
    ['with fractions, rounded to microseconds', 'whisper-1', 8.470000267, '0.000847'],
    ['at the price of their provider', 'whisper-large-v3', 60, '0.0018498'],
    ['at the price of output, where input has none', 'out-second', 2, '1'],
    ['at the price of output, where that of input is zero', 'soniox/stt', 60, '0.001666668'],
    ['of a model that is billed by tokens', 'transcribe', 10, null],
    ['of a count of zero', 'whisper-1', 0, '0'],
  ])('have the expected cost: %s', (_what, model, count, expected) => {
    const provider = model === 'whisper-large-v3' ? { provider: 'groq' } : {};
    expect(cost(model, { measured: seconds(count) }, provider)).toBe(expected);
  });

  it('are not billed in addition to tokens', () => {
    const usage = {
      inputTokens: 100,
      outputTokens: 10,
      audio: { inputTokens: 90, outputTokens: 0, cacheReadTokens: 0 },
    };
    // Text input, audio input and output: 10 x 1.25e-6 + 90 x 2.5e-6 + 10 x 5e-6.
    expect(cost('transcribe', { usage, measured: seconds(10) })).toBe('0.0002875');
  });
});

it('tokens whose price is configured as zero are free, also where the map has a price per image', () => {
  const free = { input_cost_per_token: 0, output_cost_per_token: 0 };
  const used = { usage: { inputTokens: 10, outputTokens: 10 } };
  expect(cost('gemini-image', used, { priceOverrides: free })).toBe('0');
  // Zeros beside a configured price per image mean that tokens are not billed.
  const priceOverrides = { ...free, output_cost_per_image: 0.5 };
  expect(cost('gemini-image', { ...used, measured: images(1) }, { priceOverrides })).toBe('0.5');
  expect(cost('by-size-free-tokens', { ...used, measured: images(1, '2K') })).toBe('0.12');
});

describe('configured prices of seconds', () => {
  const priced = (model: string, measured: BilledQuantity, priceOverrides: Deployment['priceOverrides']) =>
    cost(model, { measured }, { priceOverrides });

  it('of audio replace all prices of the map', () => {
    const second: BilledQuantity = { unit: 'second', count: 10 };
    expect(priced('whisper-1', second, { input_cost_per_second: 0 })).toBe('0');
    expect(priced('whisper-1', second, { output_cost_per_second: 0.5 })).toBe('5');
    expect(priced('whisper-1', second, { input_cost_per_second: 0, output_cost_per_second: 0.25 })).toBe('2.5');
  });

  it('of video replace the prices of all resolutions, and of one resolution only its price', () => {
    const video = (resolution: string | null): BilledQuantity => ({ unit: 'video_second', count: 10, resolution });
    expect(priced('video', video('720p'), {})).toBe('0.7');
    expect(priced('video', video('720p'), { output_cost_per_second: 0.01 })).toBe('0.1');
    expect(priced('video', video('720p'), { output_cost_per_video_per_second: 0 })).toBe('0');
    const ofOne = { output_cost_per_second_720p: 0.02 };
    expect([priced('video', video('720p'), ofOne), priced('video', video(null), ofOne)]).toEqual(['0.2', '0.5']);
    expect(priced('video', video('720p'), { ...ofOne, output_cost_per_second: 0.01 })).toBe('0.2');
  });

  it('do not hide configured off-peak prices of seconds', () => {
    const offPeak = {
      windows: [{ hours_utc: '00:00-00:00' }],
      input_cost_per_second: 0.1,
      output_cost_per_second: 0.2,
    };
    const own = { input_cost_per_second: 0.5, output_cost_per_second: 0.5, off_peak_pricing: offPeak };
    expect(priced('whisper-1', { unit: 'second', count: 10 }, own)).toBe('1');
    expect(priced('video', { unit: 'video_second', count: 10, resolution: '720p' }, own)).toBe('2');
  });
});

it('catalog entries of one image size are found by size and quality, and contain the name of their model', () => {
  expect(
    ['azure/hd/1024-x-1792/dall-e-3', '512-x-512/dall-e-2', 'low/1024-x-1024/gpt-image-1', 'dall-e-3', '1-x-1/'].map(
      modelOfVariant,
    ),
  ).toEqual(['azure/dall-e-3', 'dall-e-2', 'gpt-image-1', null, null]);
  expect(variantIds('azure/', 'm', { size: '1x2', quality: null })).toEqual([
    'azure/1-x-2/m',
    'azure/standard/1-x-2/m',
  ]);
  expect(variantIds('', 'm', { size: '1x2', quality: 'hd' })).toEqual(['hd/1-x-2/m']);
  expect(variantIds('', 'm', { size: 'auto', quality: 'hd' })).toEqual([]);
});
