// Dates and times in one format, in the reader's time zone: 2026-11-15 10:00.
const two = (number) => String(number).padStart(2, "0");

export function getDay(time) {
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

export function getMinute(time) {
  return `${getDay(time)} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
