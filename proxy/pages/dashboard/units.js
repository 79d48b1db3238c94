// Numbers in human units. Each function returns {text, exact}.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const unknown = { text: '–', exact: 'not known yet' };

function rounded(value) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit < units.length - 1) {
    value /= step;
    unit += 1;
  }
  return `${rounded(value)} ${units[unit]}`.trim();
}

export function count(value) {
  if (value === null || value === undefined) return unknown;
  const small = Math.abs(value) < 10000;
  const text = small ? (Number.isInteger(value) ? whole.format(value) : rounded(value))
    : scaled(value, 1000, ['', 'k', 'M', 'G']);
  return { text, exact: Number.isInteger(value) ? whole.format(value) : String(value) };
}

// "1 host", "2 hosts"
export function plural(number, word) {
  return `${count(number).text} ${word}${number === 1 ? '' : 's'}`;
}

export function bytes(value) {
  if (value === null || value === undefined) return unknown;
  return {
    text: scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']),
    exact: `${whole.format(value)} bytes`,
  };
}

export function perSecond({ text, exact }) {
  return { text: `${text}/s`, exact: `${exact} per second` };
}

// A share from 0 to 1.
export function share(part, all) {
  if (!all) return unknown;
  const percent = (100 * part) / all;
  const text = percent > 0 && percent < 0.1 ? '< 0.1 %' : percent > 99.9 && percent < 100 ? '> 99.9 %'
    : `${percent < 10 ? percent.toFixed(1) : percent.toFixed(0)} %`;
  return { text, exact: `${whole.format(part)} of ${whole.format(all)}` };
}

export function rate(fraction) {
  if (fraction === null || fraction === undefined) return unknown;
  const percent = 100 * fraction;
  const text = percent > 0 && percent < 0.001 ? '< 0.001 %' : `${Number(percent.toPrecision(2))} %`;
  return { text, exact: String(fraction) };
}

export function milliseconds(value) {
  if (value === null || value === undefined) return unknown;
  const text = value < 1000 ? `${rounded(value)} ms` : seconds(value / 1000).text;
  return { text, exact: `${value} ms` };
}

export function seconds(value) {
  if (value === null || value === undefined) return unknown;
  const text = value < 60 ? `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} s`
    : value < 3600 ? `${Math.round(value / 60)} min`
      : value < 172800 ? `${(value / 3600).toFixed(1)} h` : `${Math.round(value / 86400)} days`;
  return { text, exact: `${value} s` };
}

// "27 Nov 2026, 09:25"
export function moment(secondsSince1970) {
  return new Date(secondsSince1970 * 1000).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

export function clock(secondsSince1970, withSeconds = true) {
  const options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  if (withSeconds) options.second = '2-digit';
  return new Date(secondsSince1970 * 1000).toLocaleTimeString('en', options);
}
