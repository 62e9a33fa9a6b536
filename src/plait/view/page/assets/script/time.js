// Days and times in the one form they have everywhere: 2026-11-15 10:00, by the reader's clock.
const two = (number) => String(number).padStart(2, "0");

export function getDay(time) {
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

export function getMinute(time) {
  return `${getDay(time)} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
