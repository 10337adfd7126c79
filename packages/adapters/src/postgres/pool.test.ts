import { describe, expect, it } from 'vitest';
import { placeOf } from './pool.ts';

describe('the place of a database', () => {
  it.each([
    ['postgres://ann:s3cret@db.example:6543/memories?sslmode=require', 'postgres://db.example:6543/memories'],
    ['postgresql://ann:p%40ss@127.0.0.1/memories', 'postgres://127.0.0.1:5432/memories'],
    ['postgres:///memories?host=/run/postgresql&password=s3cret', 'postgres:///run/postgresql:5432/memories'],
  ])('of %s has neither user nor password', (url, place) => {
    expect(placeOf(url)).toBe(place);
  });

  it.each(['', 'db.example:5432', 'redis://db.example'])('is not to be had from "%s"', (url) => {
    expect(() => placeOf(url)).toThrow(/DATABASE_URL/);
  });
});
