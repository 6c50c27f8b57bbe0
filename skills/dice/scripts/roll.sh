#!/bin/sh
# Rolls dice: roll.sh 2d6+1 d20. Prints a line for each: "2d6+1: 3 + 5 + 1 = 9".

fail() {
  echo "roll.sh: $1" >&2
  exit 2
}

# Whether $3 is a whole number from $1 to $2, without leading zeros.
in_range() {
  [ "${#3}" -ge 1 ] && [ "${#3}" -le 6 ] || return 1
  [ "$(printf '%s' "$3" | tr -d '0-9' | wc -c)" -eq 0 ] || return 1
  case $3 in 0?*) return 1 ;; esac
  [ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

# $1 random numbers: from the system, or from the shell where the system has no source of them.
random_numbers() {
  if od -An -v -N"$(($1 * 4))" -tu4 /dev/urandom 2>/dev/null; then return; fi
  left=$1
  while [ "$left" -gt 0 ]; do
    echo $((RANDOM * 32768 + RANDOM))
    left=$((left - 1))
  done
}

roll() {
  spec=$(printf '%s' "$1" | tr 'D' 'd' | tr -d ' ')
  case $spec in
    *d*) ;;
    *) fail "'$1' is no roll: write NdS, such as 2d6, d20 or 3d4-2" ;;
  esac
  count=${spec%%d*}
  count=${count:-1}
  rest=${spec#*d}
  sides=${rest%%[+-]*}
  sign=
  bonus=0
  case $rest in
    *+* | *-*)
      bonus=${rest#"$sides"?}
      sign=${rest#"$sides"}
      sign=${sign%"$bonus"}
      ;;
  esac
  in_range 1 100 "$count" || fail "'$1': between 1 and 100 dice can be rolled"
  in_range 2 100000 "$sides" || fail "'$1': a die has between 2 and 100000 sides"
  in_range 0 100000 "$bonus" || fail "'$1': what is added is a whole number up to 100000"
  line=
  sum=0
  for number in $(random_numbers "$count"); do
    value=$((number % sides + 1))
    sum=$((sum + value))
    line="$line${line:+ + }$value"
  done
  if [ -n "$sign" ]; then
    sum=$((sum $sign bonus))
    line="$line $sign $bonus"
  fi
  echo "$spec: $line = $sum"
}

# Nothing asked for: one ordinary die.
[ $# -gt 0 ] || set -- 1d6
[ $# -le 20 ] || fail "at most 20 rolls at once"
for each in "$@"; do
  roll "$each"
done
