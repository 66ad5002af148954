import { describe, expect, it } from 'vitest';
import { videoSecondsOf } from '../../../src/domain/upstream-objects/video-quantity.ts';

describe('the billed seconds of a video', () => {
  it.each([
    [{ seconds: '8', size: '1280x720' }, 8, '720p'],
    [{ seconds: 4, size: '720x1280' }, 4, '720p'],
    [{ seconds: '4.5', size: '3840x2160' }, 4.5, '4k'],
    [{ seconds: 4, size: '2560x1440' }, 4, '2k'],
    [{ seconds: 4 }, 4, null],
    [{ seconds: 4, size: 'wide' }, 4, null],
    [{ seconds: 4, size: 720 }, 4, null],
  ])('of %j are %s, with the resolution %s', (video, count, resolution) => {
    expect(videoSecondsOf(video)).toEqual({ unit: 'video_second', count, resolution });
  });

  it.each([
    {},
    { seconds: 0 },
    { seconds: -1 },
    { seconds: 'x' },
    { seconds: ' ' },
    { seconds: null },
    { seconds: 1e9 },
  ])('are undefined for %j', (video) => {
    expect(videoSecondsOf(video)).toBeUndefined();
  });
});
